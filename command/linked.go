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
type notLinked struct{ error }

// withRemedy adds the same command line for the program that contains all locks.
func (e notLinked) whole(args []string) error {
	line := "  locksim-all"
	for _, a := range args {
		line += " " + story.ShellWord(a)
	}
	return errors.Join(e.error, errors.New(line))
}

// checkLinked refuses scenarios whose own locks are not linked into this program. If lock
// is given, it replaces their locks, and only it is checked.
func needs(found []input, lock string) error {
	if lock != "" {
		return needsLocks(lock)
	}
	var told, lacks []string
	for _, in := range found {
		for _, v := range in.Variants {
			if !linked(v.Lock) {
				told, lacks = append(told, story.Visible(in.Name)), append(lacks, v.Lock)
			}
		}
	}
	if len(told) == 0 {
		return nil
	}
	told = slices.Compact(told)
	const most = 5
	names := strings.Join(told[:min(len(told), most)], ", ")
	if len(told) > most {
		names += fmt.Sprintf(" and %d more", len(told)-most)
	}
	return lacking(names+" cannot be run", lacks)
}

// loadOrDefault returns the scenarios that the arguments name, or the defaults if there are
// no arguments. kinds are the locks to run them with; without kinds each scenario has its
// own. All locks that are named must be linked in; the own locks of the defaults need not
// be.
func stories(args, kinds []string, otherwise func() []input) ([]input, error) {
	if len(args) == 0 {
		return otherwise(), needsLocks(kinds...)
	}
	found, err := load(args)
	switch {
	case err != nil:
	case len(kinds) > 0:
		err = needsLocks(kinds...)
	default:
		err = needs(found, "")
	}
	return found, err
}

// checkLocksLinked refuses kinds of locks that are not linked into this program.
func needsLocks(kinds ...string) error {
	lacks := slices.DeleteFunc(slices.Clone(kinds), linked)
	if len(lacks) == 0 {
		return nil
	}
	return lacking("nothing was run", lacks)
}

// newNotLinkedError returns the error of something that needs locks that are missing.
func lacking(what string, lacks []string) error {
	slices.Sort(lacks)
	lacks = slices.Compact(lacks)
	some := "the lock " + lacks[0] + " is"
	if len(lacks) > 1 {
		some = "the locks " + strings.Join(lacks, ", ") + " are"
	}
	return notLinked{fmt.Errorf("locksim: %s: %s not linked into this program; locksim-all has all locks", what, some)}
}

// isLinked reports whether this program can make a kind of lock. It is true for an unknown
// kind.
func linked(kind string) bool {
	k, known := locks.Lookup(kind)
	return !known || k.Provided() == nil
}

// runLinked makes the runs whose locks are linked in, and replaces the planned ones by
// them.
func runLinked(runs []scenarios.Outcome, o scenarios.RunOptions) error {
	for i, run := range runs {
		if !linked(run.Lock) {
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
func notAllRun(stderr io.Writer, command string, m *reports.Matrix) {
	if n := m.NotRun(); n > 0 {
		say(stderr, "n/a in %s: their locks are not linked into this program; locksim-all %s runs them", story.Count(n, "cell"), command)
	}
}

// notRunReason returns why a scenario is not run with a lock that this program does not
// contain, or "".
func whyNotRun(lock, own string) string {
	if lock = cmp.Or(lock, own); linked(lock) {
		return ""
	}
	return "the lock " + lock + " is not linked into this program"
}
