// Package trackrecord shows that locksim finds bugs that lock libraries really
// had. Each folder here is one bug: its story as a scenario, and small modules of
// their own that put a version of the library, unmodified, through it. The README
// has the table of them.
//
// A module's test is a call of [Run].
package trackrecord

import (
	"testing"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// Story is where a module finds the story of its bug.
const Story = "../story.yaml"

// Run puts a library's lock through the story of the bug, in the subtest "story",
// and through all that package locktest knows without being told of the bug, in
// the subtest "suite". Both fail for what is the lock's own doing. The subtest
// "survey" is the suite too, but for the program run: see [SurveyVariable].
func Run(t *testing.T, config locktest.Config, build func(*locks.Env) (locks.Lock, error)) {
	inSuite := func(env *locktest.Env) (locks.Lock, error) { return build(env.Base()) }
	t.Run("story", func(t *testing.T) {
		tell(t, Story, locks.Kind{Name: t.Name(), Slots: slots(config), New: build})
	})
	t.Run("suite", func(t *testing.T) { locktest.Run(t, config, inSuite) })
	t.Run("survey", func(t *testing.T) { survey(t, config, inSuite) })
}

// slots is where a lock keeps its grants: under its own key on every node, unless
// it says otherwise.
func slots(config locktest.Config) func(key string, nodes int) ([]locks.Slot, int) {
	if config.Slots != nil {
		return config.Slots
	}
	return func(key string, nodes int) (slots []locks.Slot, quorum int) {
		for i := range nodes {
			slots = append(slots, locks.Slot{Node: i, Key: key})
		}
		return slots, nodes/2 + 1
	}
}
