package story

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// This file folds the timeline of a crowd: of many clients that do the same, a reader wants
// to see one, and how many others there are.

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

// Timelines returns the clauses of runs that differ in one thing. If marked is true, the
// important moments are marked. Unless messages is true, it folds what the clients of a
// crowd do alike; folded is the number of clauses that it folded in the run with the most.
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

// A deed is what one client of a crowd does, or what is done for it, in words that are equal
// for all clients that do the same.
type deed struct {
	by history.Acquisition
	// kind is equal for the deeds that are folded into one row. text says it in more detail;
	// it replaces kind if it is equal for all of them; "" if there is no more to say.
	kind, text Raw
	// varies is the noun for what distinguishes the texts, such as reason; "" if a row does
	// not mention that the texts differ.
	varies string
	token  uint64 // that the client got; 0 if none
}

// deedsOf returns the deeds of a clause of a crowd: the given one, or none if its kind is
// empty. It returns nil for a run that is not folded.
func (s *clauseBuilder) deedsOf(d deed) []deed {
	if !s.crowd || d.kind == "" {
		return nil
	}
	return []deed{d}
}

// setDeed completes the deed of a clause about an event. A clause about a client whose words
// fit every client needs no deed of its own.
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

// addDeeds adds the deeds of a clause that is merged into c. What happens to one client on
// several nodes is one deed.
func (c *Clause) addDeeds(deeds []deed) {
	for _, d := range deeds {
		if n := len(c.deeds); n == 0 || c.deeds[n-1].by != d.by || d.by.Section == 0 {
			c.deeds = append(slices.Clip(c.deeds), d)
		}
	}
}

// A crowd folds the timelines of runs with many clients. It shows by themselves what a
// violation, a witness or a fault is about, and the first of many clauses that say the same.
type crowd struct {
	events       map[int]bool
	acquisitions map[history.Acquisition]bool
}

// newCrowd returns a crowd that has seen no run.
func newCrowd() *crowd {
	return &crowd{map[int]bool{}, map[history.Acquisition]bool{}}
}

// spare excepts from folding what the violations, the witnesses and the faults of a run are
// about.
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

// spareParties excepts the acquisitions from folding that took part in an event.
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

// clausesOfCrowd returns the clauses of a run that [crowd.fold] folds.
func clausesOfCrowd(h *history.History) []Clause { return newClauseBuilder(h, false).build() }

// fold folds those of the clauses that say the same about many clients. before are the
// clauses before them, which are folded already.
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

// spares reports whether a clause is shown by itself, and no clause before it is folded with
// one after it.
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

// foldStretch folds clauses of which none is spared. It keeps the first clause of each kind,
// unless seen says that one has been shown, and the clauses of a kind that is rare.
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
