package sim

import (
	"slices"
	"strings"
)

// turn is a process's [locks.Env.Turn]. A paused process waits for its turn until
// it runs again.
func (p *process) turn(words ...string) {
	w := p.w
	w.disturb()
	mine := make(chan struct{})
	w.io.Lock()
	p.notice()
	w.postLocked(&request{
		process: p, class: classTurn, words: words,
		admit:   func() { w.then(func() { close(mine) }) },
		abandon: func() { close(mine) },
	})
	w.io.Unlock()
	<-mine
}

// placeTurns gives every request for a turn its place among the others.
func (w *World) placeTurns(requests []*request) {
	for _, r := range requests {
		if r.class == classTurn {
			r.place = w.names.place(r.words)
		}
	}
}

// unseen stands for every random word that no trace has shown yet: no word of a
// command, and no name, is equal to it.
const unseen = "\xff"

// place is what goroutines are put in order by: what they are about to send, with
// random words replaced by what is the same in every run. The first two words, a
// command and perhaps its script, are none.
func (n *Names) place(words []string) string {
	told := slices.Clone(words)
	for i, word := range told {
		if i < 2 || plain(word) || n.IsKey(word) {
			continue
		}
		name, seen := n.given[word]
		if !seen {
			name = unseen
		}
		told[i] = name
	}
	return strings.Join(told, "\x00")
}
