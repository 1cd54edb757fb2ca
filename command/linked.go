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

	// These servers make the scenarios on their systems known to every program. Their code
	// is small, or the package of their locks contains them anyway.
	_ "github.com/locksim/locksim/servers/consul"
	_ "github.com/locksim/locksim/servers/kubernetes"
	_ "github.com/locksim/locksim/servers/sqlite"
	_ "github.com/locksim/locksim/servers/zookeeper"
)

// A notLinkedError says that the command line needs locks that this program knows by name,
// but does not contain.
type notLinkedError struct{ error }

// withRemedy adds the command line with which locksim-all, which contains all locks, does
// the same.
func (e notLinkedError) withRemedy(args []string) error {
	line := "  locksim-all"
	for _, a := range args {
		line += " " + story.ShellWord(a)
	}
	return errors.Join(e.error, errors.New(line))
}

// checkLinked returns an error if the own lock of one of the scenarios is not linked into this
// program. kinds are locks that replace the scenarios' own locks; if there are any other than "",
// checkLinked checks only these.
func checkLinked(found []input, kinds ...string) error {
	if kinds = slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return kind == "" }); len(kinds) > 0 {
		return checkLocksLinked(kinds...)
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

// loadOrDefault reads the scenarios that the arguments name. Without arguments it returns
// the default scenarios. kinds are the locks to run the scenarios with; without kinds, each
// scenario is run with its own lock. All of these locks must be linked into the program,
// except the own locks of the default scenarios.
func loadOrDefault(args, kinds []string, defaults func() []input) ([]input, error) {
	if len(args) == 0 {
		return defaults(), checkLocksLinked(kinds...)
	}
	found, err := load(args)
	if err == nil {
		err = checkLinked(found, kinds...)
	}
	return found, err
}

// checkLocksLinked returns an error if one of the locks is not linked into this program.
func checkLocksLinked(kinds ...string) error {
	missing := slices.DeleteFunc(slices.Clone(kinds), isLinked)
	if len(missing) == 0 {
		return nil
	}
	return newNotLinkedError("nothing was run", missing)
}

// newNotLinkedError returns the error for locks that are missing; problem says what cannot be
// done without them.
func newNotLinkedError(problem string, missing []string) error {
	slices.Sort(missing)
	missing = slices.Compact(missing)
	some := "the lock " + missing[0] + " is"
	if len(missing) > 1 {
		some = "the locks " + strings.Join(missing, ", ") + " are"
	}
	return notLinkedError{fmt.Errorf("locksim: %s: %s not linked into this program; locksim-all has all locks", problem, some)}
}

// isLinked reports whether this program can make a kind of lock. For an unknown kind it
// returns true, because other checks report that.
func isLinked(kind string) bool {
	k, known := locks.Lookup(kind)
	return !known || k.CheckProvided() == nil
}

// runLinked replaces each planned run whose lock is linked into the program by its result. It
// does not change the other runs.
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

// noteNotRun prints how many cells of a matrix were not run because their locks are not
// linked in, and which program can run them.
func noteNotRun(stderr io.Writer, command string, m *reports.Matrix) {
	if n := m.NotRun(); n > 0 {
		printLine(stderr, "n/a in %s: their locks are not linked into this program; locksim-all %s runs them", story.Count(n, "cell"), command)
	}
}

// notRunReason says why a scenario is not run: its lock is not linked into this program.
// lock replaces the scenario's own lock, unless it is "". The result is "" if the lock is
// linked in.
func notRunReason(lock, own string) string {
	if lock = cmp.Or(lock, own); isLinked(lock) {
		return ""
	}
	return "the lock " + lock + " is not linked into this program"
}
