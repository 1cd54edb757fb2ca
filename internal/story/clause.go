package story

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A Clause describes one thing that happened in a run. A timeline shows one clause on each
// line: a time, a subject and a predicate.
type Clause struct {
	At time.Duration
	// Until is when the last of the described events happened, if there are several.
	Until time.Duration
	// Subject is the process or thing that acted or was affected, and Predicate says what
	// happened. A clause about the whole world has no subject.
	Subject, Predicate Raw
	// IsAboutPossession reports whether the predicate is about something that belongs to
	// the subject: "its key ...".
	IsAboutPossession bool
	Mood              Mood

	// OfStep is the step that the clause belongs to, if any. Part says which part of the
	// step, or of a fault, the clause describes.
	OfStep Step
	Part   Part
	// BeginPredicate is the predicate of the step's beginning, if this clause describes the
	// beginning as well.
	BeginPredicate Raw

	// eachPredicate is used in place of Predicate if one clause describes what many clients did; ""
	// if Predicate fits many clients, too.
	eachPredicate Raw

	// First and Last are the numbers of the first and the last event that the clause
	// describes.
	First, Last int
	// IsRepetition reports whether the clause says that the clauses before it happen again
	// and again.
	IsRepetition bool
	// Sign is the margin sign of an important clause, and Marks say why it is important.
	Sign  Sign
	Marks []Mark

	// deeds are what single clients do in this clause, if the run has so many clients that its
	// timeline is folded (see crowd.go). A merged clause has several.
	deeds []deed

	// fault is the number of the fault that the clause is about; 0 if that is not known.
	fault int

	// moment orders the clauses before similar ones are merged.
	moment history.Moment
	// Neighbouring clauses are merged into one if they have the same merge key and it is
	// not empty. merge then writes the predicate from the items of all of them.
	mergeKey string
	items    []string
	merge    func(items []string) string
}

// A Step is a step of one acquisition, such as its write. An acquisition is one attempt of a
// client to get the lock, with the critical section that follows it.
type Step struct {
	history.Acquisition
	trace.Step
}

// A Mood says what sort of statement a clause is.
type Mood int

const (
	PlainMood  Mood = iota
	DetailMood      // messages and other things that few readers need
	FaultMood       // a fault and what it does
	WrongMood       // something that should not happen to a lock
)

// Class returns the class of the mood in the style sheets, which is also its tone on a terminal.
func (m Mood) Class() string {
	switch m {
	case DetailMood:
		return "soft"
	case FaultMood:
		return "doubt"
	case WrongMood:
		return "bad"
	}
	return "plain"
}

// A Part says which part of a step or of a fault a clause describes.
type Part int

const (
	WholeStep      Part = iota
	StepBegins          // the step begins
	StorageAnswers      // the storage answers its request
	StepEnds            // the step ends as expected
	FaultStrikes        // a fault begins to act or stops acting
	FaultActs           // what a fault does to a process
)

// Silence is the shortest time without an event that a timeline points out.
const Silence = time.Second

// Wait returns a note on the time that has passed since the clause before, such as "3s
// pass". It returns "" if less than Silence has passed. last is the End of the clause
// before.
func (c Clause) Wait(last time.Duration) string {
	if gap := c.At - last; gap >= Silence && !c.IsRepetition {
		return Span(gap) + " pass"
	}
	return ""
}

// End returns when the last event of the clause happened.
func (c Clause) End() time.Duration { return max(c.At, c.Until) }

// Clauses describes a history as clauses, in order of time. If messages is true it includes
// every message. Otherwise it leaves messages out and merges clauses that repeat their
// neighbours.
func Clauses(h *history.History, messages bool) []Clause {
	clauses := newClauseBuilder(h, messages).build()
	if messages {
		return clauses
	}
	return mergeRepetitions(clauses)
}

// build returns the clauses of the builder's history, in order of time. Repetitions are not
// merged yet.
func (s *clauseBuilder) build() []Clause {
	s.addFaults()
	s.addProcesses()
	s.addClocks()
	s.addKeys()
	s.addSessions()
	s.addSteps()
	s.addClients()
	s.addStorage()
	s.addMessages()
	s.addConnections()
	s.addLeases()
	slices.SortStableFunc(s.clauses, func(a, b Clause) int {
		switch {
		case a.moment.Before(b.moment):
			return -1
		case b.moment.Before(a.moment):
			return 1
		}
		return 0
	})
	if s.messages {
		return s.clauses
	}
	return mergeClients(mergeNeighbours(dropStepEdges(mergeFaultEffects(s.clauses))))
}
