package sim

import (
	"cmp"
	"context"
	"strings"
)

// turn implements [locks.Env.WaitTurn] for a process. If the process is paused, the caller
// waits for its turn until the process runs again.
func (p *process) turn(words ...string) {
	p.w.io.Lock()
	p.noteRanOn()
	p.w.io.Unlock()
	p.w.await(&request{process: p, class: classTurn, words: words}, func() {})
}

// woken implements [locks.Env.WaitAfterTimer] for a process. Requests are admitted in order, and the
// moments that they ask for follow in the same order. Timers of the process's clock fire in
// these moments.
//
// Timers that are due at the same time fire in any order. A goroutine that one of them has
// woken may or may not have seen that another has ended its context. So no goroutine gets a
// moment before all of them wait, and none whose context has ended by then gets one.
func (p *process) woken(ctx context.Context, words ...string) {
	w := p.w
	moment := make(chan struct{})
	ended := func() bool {
		if ctx.Err() == nil {
			return false
		}
		w.afterMoment(func() { close(moment) })
		return true
	}
	r := &request{process: p, class: classWoken, words: words, abandon: func() { close(moment) }}
	r.admit = func() {
		if ended() {
			return
		}
		p.awake = append(p.awake, r)
		w.queue.add(w.now(), 1+p.index, func() {
			p.awake = p.awake[1:]
			if !p.canAct() {
				p.waiting = append(p.waiting, r)
				return
			}
			w.afterMoment(func() { close(moment) })
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
	<-moment
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
		if c := strings.Compare(n.stableWord(i, a[i]), n.stableWord(i, b[i])); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// stableWord returns the i-th word of a command, with random values replaced by words that
// are equal in every run. The first two words, a command and perhaps its script, are never
// random.
func (n *Names) stableWord(i int, word string) string {
	if i < 2 || isPlain(word) || n.IsKey(word) {
		return word
	}
	if name, seen := n.aliases[word]; seen {
		return name
	}
	return unseen
}
