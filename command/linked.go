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

	// Scenarios on these systems are read in every program. What plays them weighs nothing, or is
	// in the package of their locks.
	_ "github.com/locksim/locksim/servers/consul"
	_ "github.com/locksim/locksim/servers/kubernetes"
	_ "github.com/locksim/locksim/servers/sqlite"
	_ "github.com/locksim/locksim/servers/zookeeper"
)

// A notLinked is the error of a command line that cannot be done because the program is without
// some locks that it knows.
type notLinked struct{ error }

// whole adds to the error the command line of the program that has all.
func (e notLinked) whole(args []string) error {
	line := "  locksim-all"
	for _, a := range args {
		line += " " + story.ShellWord(a)
	}
	return errors.Join(e.error, errors.New(line))
}

// needs refuses scenarios whose own locks are not linked into this program, or the lock that
// takes their place.
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

// stories are those that arguments name, or else some of those that are built in, to be told with
// kinds of locks, or each with its own. What is named has to be linked in.
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

// needsLocks refuses kinds of locks that are not linked into this program.
func needsLocks(kinds ...string) error {
	lacks := slices.DeleteFunc(slices.Clone(kinds), linked)
	if len(lacks) == 0 {
		return nil
	}
	return lacking("nothing was run", lacks)
}

// lacking is the error of what cannot be done without some locks.
func lacking(what string, lacks []string) error {
	slices.Sort(lacks)
	lacks = slices.Compact(lacks)
	some := "the lock " + lacks[0] + " is"
	if len(lacks) > 1 {
		some = "the locks " + strings.Join(lacks, ", ") + " are"
	}
	return notLinked{fmt.Errorf("locksim: %s: %s not linked into this program; locksim-all has all locks", what, some)}
}

// linked says whether this program can make a kind of lock.
func linked(kind string) bool {
	k, known := locks.Lookup(kind)
	return !known || k.Provided() == nil
}

// runLinked makes those runs for which this program has the locks, in place of what was planned.
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

// notAllRun says how many runs of a matrix are left out, and what makes the whole of it.
func notAllRun(stderr io.Writer, command string, m *reports.Matrix) {
	if n := m.NotRun(); n > 0 {
		say(stderr, "n/a in %s: their locks are not linked into this program; locksim-all %s runs them", story.Count(n, "cell"), command)
	}
}

// whyNotRun is why a story is not told with a lock that this program is without, or "".
func whyNotRun(lock, own string) string {
	if lock = cmp.Or(lock, own); linked(lock) {
		return ""
	}
	return "the lock " + lock + " is not linked into this program"
}
