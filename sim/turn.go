package sim

import (
	"cmp"
	"context"
	"strings"
)

// awaitTurn implements [locks.Env.WaitTurn]: a goroutine calls it before it sends a command
// with these words. It returns when it is this goroutine's turn, in an order that depends
// only on the words. If the process is paused, the goroutine waits until the process runs
// again.
func (p *process) awaitTurn(words ...string) {
	p.w.ioMutex.Lock()
	p.recordRanWhilePaused()
	p.w.ioMutex.Unlock()
	p.w.await(&request{process: p, class: classTurn, words: words}, func() {})
}

// awaitTurnAfterTimer implements [locks.Env.WaitAfterTimer]: a goroutine that a timer has woken
// calls it before it sends a command with these words. It returns in a moment of its own, in which
// the loop wakes no other goroutine. The moments of several goroutines follow each other in the
// order of their words, among the moments in which timers of the process's clock fire.
//
// Timers that are due at the same time fire in any order. One of them may wake a goroutine, and
// another may end that goroutine's context. Chance decides which of the two the goroutine sees
// first. So each goroutine first waits until all such timers have fired. If its context has ended
// by then, awaitTurnAfterTimer returns without a moment of its own.
func (p *process) awaitTurnAfterTimer(ctx context.Context, words ...string) {
	w := p.w
	turnBegan := make(chan struct{})
	endIfContextEnded := func() bool {
		if ctx.Err() == nil {
			return false
		}
		w.afterMoment(func() { close(turnBegan) })
		return true
	}
	r := &request{process: p, class: classAfterTimer, words: words, abandon: func() { close(turnBegan) }}
	r.admit = func() {
		if endIfContextEnded() {
			return
		}
		p.awaitingMoments = append(p.awaitingMoments, r)
		w.queue.add(timer{at: w.now(), rank: p.turnRank(), do: func() {
			p.awaitingMoments = p.awaitingMoments[1:]
			if !p.canAct() {
				p.waiting = append(p.waiting, r)
				return
			}
			w.afterMoment(func() { close(turnBegan) })
		}})
	}
	afterTimers := &request{process: p, class: classTimerFired, words: words, abandon: r.abandon}
	afterTimers.admit = func() {
		if !endIfContextEnded() {
			r.round = afterTimers.round
			w.post(r)
		}
	}
	w.post(afterTimers)
	<-turnBegan
}

// unseenWord replaces every random word that has no name yet, because the trace has not
// shown it. It differs from every word of a command and from every name.
const unseenWord = "\xff"

// compare returns the order of two commands that goroutines are going to send. Random words
// are replaced by words that are the same in every run.
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
	return unseenWord
}
