package story

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A Clause states one thing that happened in a run: when, who and what. A timeline shows
// one clause on each line.
type Clause struct {
	At time.Duration
	// Until is when the last of it happened, if the clause describes more than one moment.
	Until time.Duration
	// Subject is the process or thing that did it or was affected, and Predicate says what
	// happened. A clause about the whole world has no subject.
	Subject, Predicate Raw
	// IsAboutPossession reports whether the predicate is about something that belongs to
	// the subject: "its key ...".
	IsAboutPossession bool
	Mood              Mood

	// Of names the step that the clause belongs to, if any, and Part says which part of it.
	Of   Step
	Part Part
	// Asked is the predicate of the step's beginning, if this clause also covers that.
	Asked Raw

	// eachPredicate is the predicate to use when one clause covers many clients; "" if it
	// is the same.
	eachPredicate Raw

	// First and Last are the Seqs of the first and the last event that the clause covers.
	First, Last int
	// IsRepetition reports whether the clause summarizes events that happen again and
	// again.
	IsRepetition bool
	// Sign is the margin sign of an important clause, and Marks say why it is important.
	Sign  Sign
	Marks []Mark

	// when orders the clauses before they are folded.
	when history.Moment
	// Neighbouring clauses with the same fold, unless it is empty, are merged into one:
	// merge writes the predicate from the items of all of them.
	fold  string
	items []string
	merge func(items []string) string
}

// A Step names a step of an acquisition.
type Step struct {
	history.Acquisition
	trace.Step
}

// A Mood says what sort of statement a clause is.
type Mood int

const (
	PlainMood  Mood = iota
	DetailMood      // messages and the like
	FaultMood       // a fault and what it does
	WrongMood       // something that should not happen to a lock
)

// A Part says which part of a step or of a fault a clause describes.
type Part int

const (
	WholeStep      Part = iota
	StepBegins          // the step begins
	StorageAnswers      // the storage deals with it
	StepEnds            // the step ends as one would expect
	FaultStrikes        // a fault begins or stops acting
	FaultActs           // what a fault does to a process
)

// Silence is the shortest gap between two clauses that a timeline reports.
const Silence = time.Second

// Wait returns a note on the gap before the clause if it is at least Silence long, else "".
// last is the End of the clause before it.
func (c Clause) Wait(last time.Duration) string {
	if gap := c.At - last; gap >= Silence && !c.IsRepetition {
		return Span(gap) + " pass"
	}
	return ""
}

// End returns when the last event of the clause happened.
func (c Clause) End() time.Duration { return max(c.At, c.Until) }

// Clauses describes a history as clauses, in order of time. With messages it includes every
// message; without, it merges clauses that repeat their neighbours.
func Clauses(h *history.History, messages bool) []Clause {
	s := newClauseBuilder(h, messages)
	s.addFaults()
	s.addProcesses()
	s.addClocks()
	s.addKeys()
	s.addSessions()
	s.addSteps()
	s.addClients()
	s.addStorage()
	s.addMessages()
	s.addContacts()
	s.addLeases()
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
	return mergeRepetitions(mergeClients(mergeNeighbours(dropStepEdges(mergeFaultEffects(s.clauses)))))
}
