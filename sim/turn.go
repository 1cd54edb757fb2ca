package sim

import (
	"cmp"
	"context"
	"strings"
)

// turn implements [locks.Env.Turn] for a process. If the process is paused, the caller
// waits for its turn until the process runs again.
func (p *process) turn(words ...string) {
	p.w.io.Lock()
	p.notice()
	p.w.io.Unlock()
	p.w.await(&request{process: p, class: classTurn, words: words}, func() {})
}

// woken implements [locks.Env.Woken] for a process. Requests are admitted in order, and the
// moments that they ask for follow in the same order. Timers of the process's clock fire in
// these moments.
//
// Timers that are due at the same time fire in any order. A goroutine that one of them has
// woken may or may not have seen that another has ended its context. So no goroutine gets a
// moment before all of them wait, and none whose context has ended by then gets one.
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

// unseen replaces every random word that no trace has shown yet. No word of a command, and
// no name, is equal to it.
const unseen = "\xff"

// compare orders goroutines that ask for a turn by what they are going to send. Random
// words are replaced by words that are the same in every run.
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

// stableWord returns the i-th word of a command, with random values replaced by words that
// are equal in every run. The first two words, a command and perhaps its script, are never
// random.
func (n *Names) told(i int, word string) string {
	if i < 2 || plain(word) || n.IsKey(word) {
		return word
	}
	if name, seen := n.given[word]; seen {
		return name
	}
	return unseen
}
