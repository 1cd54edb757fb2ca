package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"

	// Every program can read scenarios on these systems. Their simulated servers are small,
	// or are in the package of their locks.
	_ "github.com/locksim/locksim/servers/consul"
	_ "github.com/locksim/locksim/servers/kubernetes"
	_ "github.com/locksim/locksim/servers/sqlite"
	_ "github.com/locksim/locksim/servers/zookeeper"
)

// A notLinkedError is the error of a command line that needs locks that the program knows,
// but does not contain.
type notLinkedError struct{ error }

// withRemedy adds the same command line for the program that contains all locks.
func (e notLinkedError) withRemedy(args []string) error {
	line := "  locksim-all"
	for _, a := range args {
		line += " " + story.ShellWord(a)
	}
	return errors.Join(e.error, errors.New(line))
}

// checkLinked refuses scenarios whose own locks are not linked into this program. If lock
// is given, it replaces their locks, and only it is checked.
func checkLinked(found []input, lock string) error {
	if lock != "" {
		return checkLocksLinked(lock)
	}
	var scenarioNames, missing []string
	for _, in := range found {
		for _, v := range in.Variants {
			if !isLinked(v.Lock) {
				scenarioNames, missing = append(scenarioNames, story.Visible(in.Name)), append(missing, v.Lock)
			}
		}
	}
	if len(scenarioNames) == 0 {
		return nil
	}
	scenarioNames = slices.Compact(scenarioNames)
	const most = 5
	names := strings.Join(scenarioNames[:min(len(scenarioNames), most)], ", ")
	if len(scenarioNames) > most {
		names += fmt.Sprintf(" and %d more", len(scenarioNames)-most)
	}
	return newNotLinkedError(names+" cannot be run", missing)
}

// loadOrDefault returns the scenarios that the arguments name, or the defaults if there are
// no arguments. kinds are the locks to run them with; without kinds each scenario has its
// own. All locks that are named must be linked in; the own locks of the defaults need not
// be.
func loadOrDefault(args, kinds []string, defaults func() []input) ([]input, error) {
	if len(args) == 0 {
		return defaults(), checkLocksLinked(kinds...)
	}
	found, err := load(args)
	switch {
	case err != nil:
	case len(kinds) > 0:
		err = checkLocksLinked(kinds...)
	default:
		err = checkLinked(found, "")
	}
	return found, err
}

// checkLocksLinked refuses kinds of locks that are not linked into this program.
func checkLocksLinked(kinds ...string) error {
	missing := slices.DeleteFunc(slices.Clone(kinds), isLinked)
	if len(missing) == 0 {
		return nil
	}
	return newNotLinkedError("nothing was run", missing)
}

// newNotLinkedError returns the error of something that needs locks that are missing.
func newNotLinkedError(what string, missing []string) error {
	slices.Sort(missing)
	missing = slices.Compact(missing)
	some := "the lock " + missing[0] + " is"
	if len(missing) > 1 {
		some = "the locks " + strings.Join(missing, ", ") + " are"
	}
	return notLinkedError{fmt.Errorf("locksim: %s: %s not linked into this program; locksim-all has all locks", what, some)}
}

// isLinked reports whether this program can make a kind of lock. It is true for an unknown
// kind.
func isLinked(kind string) bool {
	k, known := locks.Lookup(kind)
	return !known || k.CheckProvided() == nil
}

// runLinked makes the runs whose locks are linked in, and replaces the planned ones by
// them.
func runLinked(runs []scenarios.RunResult, o scenarios.RunOptions) error {
	for i, run := range runs {
		if !isLinked(run.Lock) {
			continue
		}
		var err error
		if runs[i], err = run.Variant.Run(o, run.Fencing); err != nil {
			return fmt.Errorf("locksim: %w", err)
		}
	}
	return nil
}

// noteNotRun prints how many cells of a matrix were not run, and which program runs them.
func noteNotRun(stderr io.Writer, command string, m *reports.Matrix) {
	if n := m.NotRun(); n > 0 {
		printLine(stderr, "n/a in %s: their locks are not linked into this program; locksim-all %s runs them", story.Count(n, "cell"), command)
	}
}

// notRunReason returns why a scenario is not run with a lock that this program does not
// contain, or "".
func notRunReason(lock, own string) string {
	if lock = cmp.Or(lock, own); isLinked(lock) {
		return ""
	}
	return "the lock " + lock + " is not linked into this program"
}
