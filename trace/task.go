package trace

import (
	"fmt"
	"slices"
	"strings"
)

// A Task is one thing that a client does in its section: a step, and for those
// at the storage the object and the services through which the request goes.
//
//	work | check | mint
//	read | mark | write OBJECT
//	read | mark | write OBJECT via SERVICE and SERVICE
//	recall | remember | claim
//	acquire | try LOCK
//
// Those of the fourth line are a read and two writes of the [Record] of a [Schedule]. Those of
// the last take one more lock, which is kept until the section is over: acquire asks until it
// has it, try once.
type Task struct {
	Step   Step
	Object string
	// Lock names the lock of an acquire, and Once says that it is asked for once only.
	Lock string
	Once bool
	Via  []string
	Note Note
}

// A Note is what a task does with the record of which periods have been run.
type Note string

const (
	// Recall reads which period was run last; if that is the client's own, or a later one,
	// there is nothing left for it to do.
	Recall Note = "recall"
	// Remember writes that the client's period has been run.
	Remember Note = "remember"
	// Claim puts a row down for the client's period, of which there can be one.
	Claim Note = "claim"
)

// task is what a note is at the storage.
func (n Note) task() Task {
	if n == Recall {
		return Task{Step: Read, Object: Record, Note: n}
	}
	return Task{Step: Write, Object: Record, Note: n}
}

// DefaultTasks is what a client does in its section unless it says otherwise:
// it reads, works, and writes what it computed from what it read.
func DefaultTasks() []Task {
	return []Task{{Step: Read, Object: Object}, {Step: Work}, {Step: Write, Object: Object}}
}

// releaseAgain is how a task is written whose step is [Release]: in a section it means the
// release of the section before, once more.
const releaseAgain = "release-again"

// tryOnce is how a task is written whose step is [Acquire] and which asks once.
const tryOnce = "try"

// ParseTask reads a task.
func ParseTask(s string) (Task, error) {
	words := strings.Fields(s)
	bad := fmt.Errorf("%q is nothing to do: write work, check, mint, release-again, one of recall, remember and claim, acquire or try with a lock, such as \"acquire b\", or one of read, mark and write with an object, such as \"write x\" or \"write x via proxy\"", s)
	if len(words) == 0 {
		return Task{}, bad
	}
	t := Task{Step: Step(words[0])}
	rest := words[1:]
	switch {
	case words[0] == releaseAgain:
		t.Step = Release
	case slices.Contains([]Note{Recall, Remember, Claim}, Note(words[0])):
		if len(rest) > 0 {
			return Task{}, bad
		}
		return Note(words[0]).task(), nil
	case (words[0] == string(Acquire) || words[0] == tryOnce) && len(rest) == 1:
		return Task{Step: Acquire, Lock: rest[0], Once: words[0] == tryOnce}, nil
	case t.Step.AtStorage() && len(rest) > 0:
		t.Object, rest = rest[0], rest[1:]
	case !slices.Contains([]Step{Work, Check, Mint}, t.Step):
		return Task{}, bad
	}
	if len(rest) == 0 {
		return t, nil
	}
	if t.Object == "" || rest[0] != "via" || len(rest)%2 != 0 {
		return Task{}, bad
	}
	for i, word := range rest[1:] {
		switch {
		case i%2 == 0:
			t.Via = append(t.Via, word)
		case word != "and":
			return Task{}, bad
		}
	}
	return t, nil
}

// String is the task as one writes it.
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

// First is the process that the task's request goes to.
func (t Task) First() string {
	if len(t.Via) > 0 {
		return t.Via[0]
	}
	return StorageName
}
