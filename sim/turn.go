package sim

import (
	"cmp"
	"context"
	"strings"
)

// turn is a process's [locks.Env.Turn]. A paused process waits for its turn until
// it runs again.
func (p *process) turn(words ...string) {
	p.w.io.Lock()
	p.notice()
	p.w.io.Unlock()
	p.w.await(&request{process: p, class: classTurn, words: words}, func() {})
}

// woken is a process's [locks.Env.Woken]. Requests are admitted in order, and so are the moments
// that they ask for: those in which timers of the process's clock fire.
//
// Timers that are due at one time fire in any order. A goroutine that one of them has woken may
// or may not have seen that another has ended its context. So nobody gets a moment before all of
// them wait, and nobody whose context has ended by then.
func (p *process) woken(ctx context.Context, words ...string) {
	w := p.w
	mine := make(chan struct{})
	ended := func() bool {
		if ctx.Err() == nil {
			return false
		}
		w.then(func() { close(mine) })
		return true
	}
	r := &request{process: p, class: classWoken, words: words, abandon: func() { close(mine) }}
	r.admit = func() {
		if ended() {
			return
		}
		p.awake = append(p.awake, r)
		w.queue.add(w.now(), 1+p.index, func() {
			p.awake = p.awake[1:]
			if !p.running() {
				p.waiting = append(p.waiting, r)
				return
			}
			w.then(func() { close(mine) })
		}, nil)
	}
	due := &request{process: p, class: classDue, words: words, abandon: r.abandon}
	due.admit = func() {
		if !ended() {
			r.round = due.round
			w.post(r)
		}
	}
	w.post(due)
	<-mine
}

// unseen stands for every random word that no trace has shown yet: no word of a
// command, and no name, is equal to it.
const unseen = "\xff"

// compare is what puts goroutines in order that ask for a turn: by what they are about to
// send, with random words replaced by what is the same in every run.
func (n *Names) compare(a, b []string) int {
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		if c := strings.Compare(n.told(i, a[i]), n.told(i, b[i])); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// told is the i-th word of what is about to be sent as it is in every run. The first two, a
// command and perhaps its script, are never random.
func (n *Names) told(i int, word string) string {
	if i < 2 || plain(word) || n.IsKey(word) {
		return word
	}
	if name, seen := n.given[word]; seen {
		return name
	}
	return unseen
}
