// Package proof puts a version of a library through the story of a bug, and through what
// package locktest knows without being told of the bug. A test in the folder libraries
// calls [Run], and the program run reads what the test says.
package proof

import (
	"os"
	"slices"
	"testing"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/sim"
)

// BugVariable is the environment variable that says which bug a test is about, and
// which version of the library it was built with, as "BUG/VERSION".
const BugVariable = "LOCKSIM_BUG"

// New makes a library's lock.
type New func(*locks.Env) (locks.Lock, error)

// An Option is an option of a library, and New the lock that has it.
type Option struct {
	Name string
	New  New
}

// Run puts a library's lock through the story of the bug, in the subtest "story",
// and through all that package locktest knows without being told of the bug, in
// the subtest "suite". Both fail for what is the lock's own doing. The subtest
// "survey" is the suite too, but for the program run: see [SurveyVariable].
//
// The lock is what build makes, or the one of options that the version asks for.
func Run(t *testing.T, config locktest.Config, build New, options ...Option) {
	name := os.Getenv(BugVariable)
	if name == "" {
		t.Skip("which bug? In the repository's folder: go run ./trackrecord/run -test BUG/VERSION")
	}
	bug, version, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	if version.Option != "" {
		i := slices.IndexFunc(options, func(o Option) bool { return o.Name == version.Option })
		if i < 0 {
			t.Fatalf("%s: this test knows no option %s", name, version.Option)
		}
		build = options[i].New
	}
	config.Command = "go run ./trackrecord/run -test " + name
	inSuite := func(env *locktest.Env) (locks.Lock, error) { return build(env.Base()) }
	t.Run("story", func(t *testing.T) {
		tell(t, bug.Story, locks.Kind{Name: t.Name(), System: config.System, Slots: slots(config), New: build})
	})
	t.Run("suite", func(t *testing.T) { locktest.Run(t, config, inSuite) })
	t.Run("survey", func(t *testing.T) { survey(t, config, inSuite) })
}

// slots is where a lock keeps its grants: under its own key on every node, or in the
// cluster that these are, unless it says otherwise.
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
