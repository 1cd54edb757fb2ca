// Package proof tests a version of a library with the story of a bug (a scenario that shows it),
// and with the suite of package locktest, which was not written for this bug. A test in the folder
// libraries calls [Run], and the program in the folder run reads the attributes that the test
// writes.
package proof

import (
	"os"
	"slices"
	"testing"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/sim"
)

// BugVariable is the environment variable whose value tells a test which bug it is about and with
// which version of the library it was built, as "BUG/VERSION".
const BugVariable = "LOCKSIM_BUG"

// New makes a client's handle on a library's lock.
type New func(*locks.Env) (locks.Lock, error)

// An Option is an option of a library that a version in versions.json can name. New makes
// the lock with that option.
type Option struct {
	Name string
	New  New
}

// Run tests a library's lock. The subtest "story" runs the story of the bug, and the subtest
// "suite" runs the suite of package locktest. Both fail only because of violations that are the
// lock's own fault. The subtest "survey" runs the suite for the program in the folder run, and
// reports all test cases that fail: see [SurveyVariable].
//
// build makes the lock. If versions.json names an option for the version, the New of that
// option makes the lock instead.
func Run(t *testing.T, config locktest.Config, build New, options ...Option) {
	name := os.Getenv(BugVariable)
	if name == "" {
		t.Skip("the test needs a bug; run it in the folder of the repository with go run ./trackrecord/run -test BUG/VERSION")
	}
	bug, version, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	if version.Option != "" {
		i := slices.IndexFunc(options, func(o Option) bool { return o.Name == version.Option })
		if i < 0 {
			t.Fatalf("%s: this test has no option %s", name, version.Option)
		}
		build = options[i].New
	}
	config.Command = "go run ./trackrecord/run -test " + name
	inSuite := func(env *locktest.Env) (locks.Lock, error) { return build(env.Base()) }
	t.Run("story", func(t *testing.T) {
		testStory(t, bug.Story, locks.Kind{Name: t.Name(), System: config.System, Slots: slots(config), New: build})
	})
	t.Run("suite", func(t *testing.T) { locktest.Run(t, config, inSuite) })
	t.Run("survey", func(t *testing.T) { survey(t, config, inSuite) })
}

// slots returns a function that says in which slots a lock keeps its grants, and how many of them
// make a grant. A slot is a key on a node. By default the lock has one key on every node, or one
// key on the cluster if the nodes form one.
func slots(config locktest.Config) func(key string, nodes int) ([]locks.Slot, int) {
	if config.Slots != nil {
		return config.Slots
	}
	if system, _ := sim.LookupSystem(config.System); system.Cluster {
		return func(key string, nodes int) ([]locks.Slot, int) { return locks.InCluster(system.KeyOf(key), nodes) }
	}
	return func(key string, nodes int) (slots []locks.Slot, quorum int) {
		for i := range nodes {
			slots = append(slots, locks.Slot{Node: i, Key: key})
		}
		return slots, nodes/2 + 1
	}
}
