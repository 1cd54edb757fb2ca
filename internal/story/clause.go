package story

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A Clause says one thing that happened in a run: when, who, and what. A timeline has one
// on each line.
type Clause struct {
	At time.Duration
	// Until is when the last of what the clause tells happened, if it tells of more than
	// one moment.
	Until time.Duration
	// Subject is who did it or whom it befell, and Predicate what; a clause about
	// everything has no subject.
	Subject, Predicate Raw
	// Its says that the predicate is not about the subject, but about something of its
	// own: "its key ...".
	Its  bool
	Mood Mood

	// Of names the step that the clause is part of, if it is of one, and Part says which.
	Of   Step
	Part Part
	// Asked is how the step began, where the clause tells of that as well.
	Asked Raw

	// each is the predicate when it is told once of many clients, where that is another.
	each Raw

	// First and Last are the Seqs of the events that the clause tells.
	First, Last int
	// Again says that the clause stands for all that happens over and over in it.
	Again bool
	// Sign is that of a clause that matters, and Marks say why.
	Sign  Sign
	Marks []Mark

	// when orders the clauses before they are folded.
	when history.Moment
	// Clauses next to each other with one fold, unless it is empty, are told as one:
	// merge writes the predicate from all their items.
	fold  string
	items []string
	merge func(items []string) string
}

// A Step names a step of an acquisition.
type Step struct {
	history.Acquisition
	trace.Step
}

// A Mood says how a clause is to be taken.
type Mood int

const (
	Plain  Mood = iota
	Detail      // messages and the like
	Fault       // a fault and what it does
	Wrong       // something that should not happen to a lock
)

// A Part says how a clause belongs to a whole.
type Part int

const (
	Whole   Part = iota
	Opens        // the step begins
	Serves       // the storage deals with it
	Closes       // the step ends as one would expect
	Strikes      // a fault begins or stops acting
	Effect       // what a fault does to a process
)

// Silence is how long nothing must happen for a timeline to say so.
const Silence = time.Second

// Wait says how long nothing had happened when the clause did, where that is long; last is
// the End of the clause before it.
func (c Clause) Wait(last time.Duration) string {
	if gap := c.At - last; gap >= Silence && !c.Again {
		return Span(gap) + " pass"
	}
	return ""
}

// End is when the last of what the clause tells happened.
func (c Clause) End() time.Duration { return max(c.At, c.Until) }

// Of tells a history: what happened, in order. With messages it tells everything, each
// message by itself; without, what is like its neighbours is told once for all of them.
func Of(h *history.History, messages bool) []Clause {
	s := newTeller(h, messages)
	s.tellFaults()
	s.tellProcesses()
	s.tellClocks()
	s.tellKeys()
	s.tellSessions()
	s.tellSteps()
	s.tellClients()
	s.tellStorage()
	s.tellMessages()
	s.tellContacts()
	s.tellLeases()
	slices.SortStableFunc(s.clauses, func(a, b Clause) int {
		switch {
		case a.when.Before(b.when):
			return -1
		case b.when.Before(a.when):
			return 1
		}
		return 0
	})
	if messages {
		return s.clauses
	}
	return repeats(together(fold(uneventful(causes(s.clauses)))))
}
