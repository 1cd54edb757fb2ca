package quiz

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/snapshot"
	"github.com/locksim/locksim/internal/story"
)

// holderForm asks who holds the lock at a moment, according to its servers and according to the
// clients' own belief.
var holderForm = Form{Name: "holder", Title: "who holds the lock at a moment, by its servers and by each client's own belief", ask: askHolder}

// A possession says who holds a lock at one moment: holders are the clients whose grants the
// servers keep, and believers the clients that believe they hold it.
type possession struct{ holders, believers []string }

// text returns the possession as a choice.
func (p possession) text() string {
	return fmt.Sprintf("by its servers: %s; by their own belief: %s", nameAll(p.holders), nameAll(p.believers))
}

func (p possession) equal(o possession) bool {
	return slices.Equal(p.holders, o.holders) && slices.Equal(p.believers, o.believers)
}

// nameAll lists clients in words; "nobody" if there are none.
func nameAll(clients []string) string {
	if len(clients) == 0 {
		return "nobody"
	}
	return story.List(clients)
}

// interest says how much readers learn from a question about a possession; more is better.
func (p possession) interest() int {
	switch {
	case len(p.holders) > 1 || len(p.believers) > 1:
		return 4
	case len(p.holders) == 0 && len(p.believers) > 0:
		return 3
	case !slices.Equal(p.holders, p.believers):
		return 2
	case len(p.holders) > 0:
		return 1
	}
	return 0
}

// possessionAt returns who holds the only lock of a run at a moment. ok is false if that is not
// known.
func possessionAt(h *history.History, camera *snapshot.Camera, clients []string, m history.Moment) (p possession, ok bool) {
	if p.holders, ok = camera.HoldersOf(h.Trace.Locks[0].Name, m); !ok {
		return p, false
	}
	for _, name := range clients {
		k, known := knows(h, camera, name, m)
		if known && k.belief == snapshot.HoldsTheLock {
			p.believers = append(p.believers, name)
		}
		if !known && slices.Contains(p.holders, name) {
			return p, false // nobody can say what a dead client believes
		}
	}
	slices.SortStableFunc(p.holders, func(a, b string) int { return slices.Index(clients, a) - slices.Index(clients, b) })
	return p, !slices.ContainsFunc(p.holders, func(name string) bool { return !slices.Contains(clients, name) })
}

func askHolder(c *Case) *Question {
	h := c.Off.History
	clients := grantedClients(h)
	if _, ok := onlyLock(h); !ok || len(clients) == 0 || !isWanted(h, clients[0]) {
		return nil
	}
	camera := newCamera(h)
	var best calm
	var right possession
	for _, candidate := range findCalm(h) {
		p, ok := possessionAt(h, camera, clients, candidate.moment)
		if ok && (best.length == 0 || p.interest() > right.interest() || p.interest() == right.interest() && candidate.length > best.length) {
			best, right = candidate, p
		}
	}
	if best.length == 0 {
		return nil
	}
	q := &Question{
		moment: best.moment.At,
		Text:   fmt.Sprintf("Who holds the lock at %s: by its servers, and by the clients' own belief? (This is the run without fencing tokens.)", clockTime(best.moment.At)),
		Terms:  "By its servers, a client holds the lock if its server, or a majority of its servers, keeps the grant. A client believes that it holds the lock from the grant until it releases the lock, its own clock passes the end of the lease, or it is notified that the lease is lost. A paused client believes what it believed when its pause began.",
	}
	for _, p := range offeredPossessions(clients, right) {
		choice := Choice{Text: p.text(), IsRight: p.equal(right)}
		switch {
		case choice.IsRight:
		case slices.Equal(p.holders, right.holders):
			choice.IsClose, choice.Remark = true, "right for the servers, wrong for the belief"
		case slices.Equal(p.believers, right.believers):
			choice.IsClose, choice.Remark = true, "right for the belief, wrong for the servers"
		}
		q.Choices = append(q.Choices, choice)
	}
	q.Reason = describePossession(h, camera, best.moment, clients, right)
	return q
}

// offeredPossessions returns the possessions to choose from. They are about two clients: those of
// the right answer, filled up with the first clients that were granted the lock.
func offeredPossessions(clients []string, right possession) []possession {
	var involved []string
	for _, name := range slices.Concat(right.holders, right.believers, clients, []string{"another client"}) {
		if len(involved) < 2 && !slices.Contains(involved, name) {
			involved = append(involved, name)
		}
	}
	order := func(name string) int {
		if i := slices.Index(clients, name); i >= 0 {
			return i
		}
		return len(clients)
	}
	slices.SortStableFunc(involved, func(a, b string) int { return order(a) - order(b) })
	return choosePossessions(involved, right)
}

// choosePossessions returns seven possessions of two clients, of which one is right. Their order
// does not depend on which of them is right.
func choosePossessions(two []string, right possession) []possession {
	a, b := two[:1], two[1:]
	offered := []possession{{a, a}, {a, nil}, {nil, a}, {nil, nil}, {b, b}, {b, two}, {two, two}}
	if !slices.ContainsFunc(offered, right.equal) {
		offered[len(offered)-1] = right // replaces the possession that is seldom right
	}
	all := [][]string{nil, a, b, two}
	place := func(clients []string) int {
		return slices.IndexFunc(all, func(o []string) bool { return slices.Equal(o, clients) })
	}
	slices.SortStableFunc(offered, func(p, q possession) int {
		return cmp.Or(place(p.holders)-place(q.holders), place(p.believers)-place(q.believers))
	})
	return offered
}

// describePossession says in words whose grants the servers keep at a moment, and what the
// clients know.
func describePossession(h *history.History, camera *snapshot.Camera, m history.Moment, clients []string, p possession) string {
	text := fmt.Sprintf("At %s the servers keep a grant of %s.", clockTime(m.At), nameAll(p.holders))
	if len(p.holders) == 0 {
		text = fmt.Sprintf("At %s the servers keep no grant.", clockTime(m.At))
	}
	for _, name := range clients {
		k, known := knows(h, camera, name, m)
		if !known || k.belief == snapshot.NoHold && !slices.Contains(p.holders, name) {
			continue
		}
		text += " " + describeKnowledge(name, k)
	}
	return text
}

// describeKnowledge says what a client knows.
func describeKnowledge(client string, k knowledge) string {
	text := client
	if k.isPaused {
		text += " is paused, and"
	}
	return text + " " + beliefTexts[k.belief] + "."
}
