// Package edn writes a run in the format of Jepsen, a test tool for distributed systems.
// Jepsen's checkers can then judge what the locks and the storage did, independently of
// locksim. A history in this format is a list of operations, each with its invocation and
// its completion, in the data notation EDN.
package edn

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
)

// A History is one history of a run. A checker of Jepsen reads it unchanged.
type History struct {
	// Name distinguishes the histories of one run: "lock", "register-2", "sections".
	Name string
	// Model says, in words, against which of Jepsen's models the history has to be checked.
	Model      string
	operations []fields
}

// The kinds of histories. The name of a history begins with its kind.
const lockKind, registerKind, sectionsKind = "lock", "register", "sections"

// Kinds lists the kinds of histories. If a run has several histories of one kind, their
// names are numbered, as in "register-2".
func Kinds() []string { return []string{lockKind, registerKind, sectionsKind} }

// Histories returns the histories of a run, without empty ones: one for each lock, one for each
// object of the storage, and one for the critical sections. A lock that grants every request (it
// excludes nobody) has no history. The histories are separate because each of Jepsen's checkers
// accepts only certain operations.
func Histories(h *history.History) []History {
	if h.Last() == nil {
		return nil
	}
	var all []History
	add := func(name string, i, n int, model string, operations []fields) {
		if n > 1 {
			name += fmt.Sprintf("-%d", i+1)
		}
		if len(operations) > 0 {
			all = append(all, History{name, model, operations})
		}
	}
	locks := h.Trace.Locks
	for i, l := range locks {
		if !l.GrantsEveryone {
			add(lockKind, i, len(locks), fmt.Sprintf("the lock %s: a mutex (Knossos)", story.Visible(l.Name)), lockHistory(h, l.Name))
		}
	}
	requests := readRequests(h)
	objects := requests.objects()
	for i, object := range objects {
		add(registerKind, i, len(objects), fmt.Sprintf("the object %s: a register (Knossos)", story.Visible(object)), registerHistory(requests, object))
	}
	add(sectionsKind, 0, 1, "the sections: transactions on registers (Elle's rw-register)", sectionsHistory(requests))
	return all
}

// String returns the history in EDN: a vector of maps, one on each line.
func (h History) String() string {
	operations := make([]string, len(h.operations))
	for i, o := range h.operations {
		var line strings.Builder
		encode(&line, o)
		operations[i] = line.String()
	}
	return fmt.Sprintf("[%s]\n", strings.Join(operations, "\n "))
}
