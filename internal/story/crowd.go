package story

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// This file folds the timeline of a crowd. If many clients do the same, a reader wants to see one
// of them, and how many others there are.

// smallestCrowd is the smallest number of clients that are a crowd.
const smallestCrowd = 7

// isCrowd reports whether a run has so many clients that its timeline is folded.
func isCrowd(h *history.History) bool {
	n := 0
	for _, p := range h.Trace.Processes {
		if p.Role == trace.RoleClient {
			n++
		}
	}
	return n >= smallestCrowd
}

// Timelines returns the clauses of each of some runs, which differ in one thing, such as fencing.
// If marked is true, the important moments are marked. If messages is false and the runs have a
// crowd of clients, Timelines folds clauses that say the same about many clients into one. folded
// is how many clauses fewer there are because of that, in the run with the greatest difference.
func Timelines(runs []Run, messages, marked bool) (timelines [][]Clause, folded int) {
	many := !messages && isCrowd(runs[0].History)
	for _, run := range runs {
		var clauses []Clause
		if many {
			clauses = clausesOfCrowd(run.History)
		} else {
			clauses = Clauses(run.History, messages)
		}
		if marked {
			clauses = Marked(clauses, run.Marks())
		}
		timelines = append(timelines, clauses)
	}
	if !many {
		return timelines, 0
	}
	c := newCrowd()
	for _, run := range runs {
		c.spare(run)
	}
	common := CommonClauses(timelines)
	before := c.fold(nil, timelines[0][:common])
	for i, clauses := range timelines {
		timelines[i] = slices.Concat(before, c.fold(before, clauses[common:]))
		folded = max(folded, len(clauses)-len(timelines[i]))
	}
	return timelines, folded
}

// A deed is something that one client of a crowd does, or that a server does for it. Its words do
// not name the client, so they are equal for all clients that do the same.
type deed struct {
	by history.Acquisition
	// All deeds of one kind are folded into one row, whose predicate is kind. text says the same
	// in more detail; "" if there is no more to say. If all deeds of the row have the same text,
	// the predicate is this text instead.
	kind, text Raw
	// varies is a noun for the differences between the texts. If it is "reason", the row adds
	// "for 3 different reasons". If it is "", the row does not say that the texts differ.
	varies string
	token  uint64 // the fencing token that the client got; 0 if none
}

// deedsOf returns d as the only deed of a clause. It returns nil if the run has no crowd or d has
// no kind.
func (s *clauseBuilder) deedsOf(d deed) []deed {
	if !s.crowd || d.kind == "" {
		return nil
	}
	return []deed{d}
}

// setDeed adds to the deed of a clause which client it is about. If the clause has no deed, but
// is about a client and its predicate fits every client, setDeed makes a deed of the predicate.
// ev is the event that the clause describes.
func (s *clauseBuilder) setDeed(ev *trace.Event, c *Clause) {
	if !s.crowd {
		return
	}
	if len(c.deeds) == 0 && s.IsClient(string(c.Subject)) && (c.Mood == PlainMood || c.Mood == DetailMood) {
		kind := c.eachPredicate
		if kind == "" && !c.IsAboutPossession {
			kind = c.Predicate
		}
		c.deeds = s.deedsOf(deed{kind: kind})
	}
	if len(c.deeds) == 0 || c.deeds[0].by.Client != "" {
		return
	}
	d := &c.deeds[0]
	switch {
	case c.OfStep != (Step{}):
		d.by = c.OfStep.Acquisition
	case c.Subject != "" && s.IsClient(string(c.Subject)):
		d.by = history.Acquisition{Client: string(c.Subject), Section: ev.Section}
	default:
		d.by = history.Acquisition{Client: ev.Process, Section: ev.Section}
	}
}

// addDeeds adds to c the deeds of a clause that is merged into it. What happens to one client on
// several nodes counts as one deed.
func (c *Clause) addDeeds(deeds []deed) {
	for _, d := range deeds {
		if n := len(c.deeds); n == 0 || c.deeds[n-1].by != d.by || d.by.Section == 0 {
			c.deeds = append(slices.Clip(c.deeds), d)
		}
	}
}

// A crowd folds the timelines of runs with many clients: one clause replaces many that say the
// same. It never folds clauses about the events and acquisitions in its fields, nor the first
// clause of each kind.
type crowd struct {
	events       map[int]bool
	acquisitions map[history.Acquisition]bool
}

// newCrowd returns a crowd that has seen no run.
func newCrowd() *crowd {
	return &crowd{map[int]bool{}, map[history.Acquisition]bool{}}
}

// spare records the events and acquisitions that the violations, the witnesses and the faults of
// a run are about. The clauses about them are not folded.
func (f *crowd) spare(run Run) {
	h := run.History
	for _, m := range run.Marks() {
		f.events[m.Seq] = true
	}
	for _, finding := range run.Verdict.Violations() {
		for _, seq := range finding.Events {
			f.events[seq] = true
		}
	}
	for seq := range f.events {
		f.spareParties(h.Event(seq))
	}
	for _, a := range h.Acts() {
		client := h.ClientOf(a.Fault)
		for _, c := range slices.Backward(h.Calls()) {
			if c.Client == client && c.Began != nil && c.Began.Seq < a.Struck.Seq { // the client's step when the fault struck
				f.acquisitions[c.Acquisition] = true
				break
			}
		}
	}
}

// spareParties records the acquisitions that took part in an event. The clauses about them are
// not folded.
func (f *crowd) spareParties(ev *trace.Event) {
	if ev == nil {
		return
	}
	for _, a := range []*trace.Actor{ev.By, ev.Owner, ev.Prior} {
		if a != nil {
			f.acquisitions[history.AcquisitionOf(a)] = true
		}
	}
	if ev.Section > 0 {
		f.acquisitions[history.Acquisition{Client: ev.Process, Section: ev.Section}] = true
	}
}

// clausesOfCrowd returns the clauses of a run as [crowd.fold] needs them: none is merged as a
// repetition yet.
func clausesOfCrowd(h *history.History) []Clause { return newClauseBuilder(h, false).build() }

// fold returns the clauses after folding those that say the same about many clients. before are the
// earlier clauses of the timeline, which have been folded. If a kind of clause occurs in before,
// fold need not keep a first clause of this kind.
func (f *crowd) fold(before, clauses []Clause) []Clause {
	seen := map[Raw]bool{}
	for _, c := range before {
		if len(c.deeds) > 0 {
			seen[c.deeds[0].kind] = true
		}
	}
	var folded []Clause
	for i := 0; i < len(clauses); {
		end := i
		for end < len(clauses) && !f.spares(clauses[end]) {
			end++
		}
		folded = append(folded, foldStretch(clauses[i:end], seen)...)
		if end < len(clauses) {
			folded = append(folded, clauses[end])
			if deeds := clauses[end].deeds; len(deeds) > 0 {
				seen[deeds[0].kind] = true
			}
			end++
		}
		i = end
	}
	return mergeRepetitions(folded)
}

// spares reports whether a clause is not folded. Such a clause also separates its neighbours: no
// clause before it is folded together with one after it.
func (f *crowd) spares(c Clause) bool {
	if c.Mood == FaultMood || c.Mood == WrongMood && len(c.deeds) == 0 {
		return true
	}
	for _, d := range c.deeds {
		if f.acquisitions[d.by] {
			return true
		}
	}
	for seq := c.First; seq <= c.Last; seq++ {
		if f.events[seq] {
			return true
		}
	}
	return false
}

// foldStretch folds consecutive clauses, none of which is exempt from folding. It keeps the first
// clause of each kind, unless seen says that a clause of this kind has been shown before. It also
// keeps the further clauses of a kind if there are fewer than three.
func foldStretch(clauses []Clause, seen map[Raw]bool) []Clause {
	const fewest = 3
	groups := map[Raw][]Clause{}
	for _, c := range clauses {
		if len(c.deeds) > 0 {
			kind := c.deeds[0].kind
			groups[kind] = append(groups[kind], c)
		}
	}
	var folded []Clause
	for _, c := range clauses {
		if len(c.deeds) == 0 {
			folded = append(folded, c)
			continue
		}
		kind := c.deeds[0].kind
		group := groups[kind]
		switch {
		case len(group) == 0: // folded already
		case !seen[kind]:
			seen[kind] = true
			folded = append(folded, c)
			groups[kind] = group[1:]
		case len(group) < fewest && group[0].First == c.First:
			folded = append(folded, c)
			groups[kind] = group[1:]
		default:
			folded = append(folded, foldGroup(group))
			groups[kind] = nil
		}
	}
	return folded
}

// foldGroup returns one clause for clauses of one kind.
func foldGroup(group []Clause) Clause {
	first, last := group[0], group[len(group)-1]
	var deeds []deed
	for _, c := range group {
		deeds = append(deeds, c.deeds...)
	}
	clients, texts := []string{}, []Raw{}
	least, greatest := deeds[0].token, deeds[0].token
	for _, d := range deeds {
		if !slices.Contains(clients, d.by.Client) {
			clients = append(clients, d.by.Client)
		}
		if !slices.Contains(texts, d.text) {
			texts = append(texts, d.text)
		}
		least, greatest = min(least, d.token), max(greatest, d.token)
	}
	does := deeds[0].kind
	switch {
	case len(texts) == 1 && texts[0] != "":
		does = texts[0]
	case len(texts) > 1 && deeds[0].varies != "":
		does += Raw(fmt.Sprintf(", for %d different %ss", len(texts), deeds[0].varies))
	}
	if least > 0 {
		does += Raw(fmt.Sprintf(": tokens %s to %s", Token(least), Token(greatest)))
	}
	who := Raw(abbreviateNames(clients, 4))
	folded := Clause{At: first.At, Until: last.End(), First: first.First, Last: first.Last, Mood: first.Mood, Subject: first.Subject}
	switch byClients := first.Part != StorageAnswers; {
	case byClients && len(clients) == 1:
		folded.Subject, folded.Predicate = Raw(clients[0]), does
	case byClients:
		folded.Subject, folded.Predicate = Raw(Count(len(clients), "client")), "each "+does+" ("+who+")"
	case len(clients) == 1:
		folded.Predicate = does + " for " + who
	default:
		folded.Predicate = does + Raw(fmt.Sprintf(" for each of %s (", Count(len(clients), "client"))) + who + ")"
	}
	if n := len(deeds); n > len(clients) {
		folded.Predicate += Raw(fmt.Sprintf("; together %s until %s", Count(n, "time"), Moment(folded.Until, 3)))
	} else if folded.Until-folded.At >= time.Millisecond {
		folded.Predicate += Raw("; the last time at " + Moment(folded.Until, 3))
	}
	return folded
}
