package trace

import (
	"fmt"
	"slices"
	"strings"
)

// A Task is one thing that a client does in its critical section. A task at the storage names the
// object, and in Via the services through which the request goes.
//
//	work | check | mint
//	read | mark | write OBJECT
//	read | mark | write OBJECT via SERVICE and SERVICE
//	recall | remember | claim
//	acquire | try LOCK
//
// recall, remember and claim read or write the [PeriodRecord] of a [Schedule]; see [Note]. The
// tasks acquire and try ask for one more lock, which the client keeps until the section ends:
// acquire asks until the lock is granted, try asks once.
type Task struct {
	Step   Step
	Object string
	// Lock is the name of the lock that an acquire asks for. Once says that the client asks only
	// once, and does not try again.
	Lock string
	Once bool
	Via  []string
	Note Note
}

// A Note is how a task uses the record in which clients note the periods that have been
// run.
type Note string

const (
	// Recall reads which period was run last. If it is the client's own period or a later
	// one, the client has nothing left to do.
	Recall Note = "recall"
	// Remember records that the client's period has been run.
	Remember Note = "remember"
	// Claim inserts a row for the client's period; there can be only one such row.
	Claim Note = "claim"
)

// task returns the task that a note describes, which is a request to the storage.
func (n Note) task() Task {
	if n == Recall {
		return Task{Step: Read, Object: PeriodRecord, Note: n}
	}
	return Task{Step: Write, Object: PeriodRecord, Note: n}
}

// DefaultTasks returns what a client does in its section if the scenario does not say
// otherwise: it reads, works, and writes what it computed from what it read.
func DefaultTasks() []Task {
	return []Task{{Step: Read, Object: DefaultObject}, {Step: Work}, {Step: Write, Object: DefaultObject}}
}

// releaseAgain is the text of a task whose step is [Release]: it releases the client's
// previous section a second time.
const releaseAgain = "release-again"

// tryOnce is the text of a task whose step is [Acquire] and that asks only once.
const tryOnce = "try"

// ParseTask parses a task; its grammar is that of [Task].
func ParseTask(s string) (Task, error) {
	words := strings.Fields(s)
	invalidTask := fmt.Errorf("%q is not a task: write work, check, mint, release-again, one of recall, remember and claim, acquire or try with a lock, such as \"acquire b\", or one of read, mark and write with an object, such as \"write x\" or \"write x via proxy\"", s)
	if len(words) == 0 {
		return Task{}, invalidTask
	}
	t := Task{Step: Step(words[0])}
	rest := words[1:]
	switch {
	case words[0] == releaseAgain:
		t.Step = Release
	case slices.Contains([]Note{Recall, Remember, Claim}, Note(words[0])):
		if len(rest) > 0 {
			return Task{}, invalidTask
		}
		return Note(words[0]).task(), nil
	case (words[0] == string(Acquire) || words[0] == tryOnce) && len(rest) == 1:
		return Task{Step: Acquire, Lock: rest[0], Once: words[0] == tryOnce}, nil
	case t.Step.AtStorage() && len(rest) > 0:
		t.Object, rest = rest[0], rest[1:]
	case !slices.Contains([]Step{Work, Check, Mint}, t.Step):
		return Task{}, invalidTask
	}
	if len(rest) == 0 {
		return t, nil
	}
	if t.Object == "" || rest[0] != "via" || len(rest)%2 != 0 {
		return Task{}, invalidTask
	}
	for i, word := range rest[1:] {
		switch {
		case i%2 == 0:
			t.Via = append(t.Via, word)
		case word != "and":
			return Task{}, invalidTask
		}
	}
	return t, nil
}

// String returns the task in the grammar of [Task].
func (t Task) String() string {
	if t.Note != "" {
		return string(t.Note)
	}
	s := string(t.Step)
	switch {
	case t.Step == Release:
		s = releaseAgain
	case t.Once:
		s = tryOnce
	}
	if t.Lock != "" {
		s += " " + t.Lock
	}
	if t.Object != "" {
		s += " " + t.Object
	}
	if len(t.Via) > 0 {
		s += " via " + strings.Join(t.Via, " and ")
	}
	return s
}

// Receiver returns the process that receives the task's request first.
func (t Task) Receiver() string {
	if len(t.Via) > 0 {
		return t.Via[0]
	}
	return StorageName
}
