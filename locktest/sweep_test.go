package locktest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/mutants"
	"github.com/locksim/locksim/locks"
)

// newSubjectOn returns a subject, which is a lock under test, on so many nodes.
func newSubjectOn(t *testing.T, nodes int, build New) *subject {
	t.Helper()
	s, err := newSubject(t.Name(), Config{Nodes: nodes, Extends: true, OwnClock: true}, build)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// constructorOf returns the constructor of a registered kind of lock.
func constructorOf(t *testing.T, name string) New {
	t.Helper()
	k, ok := locks.Lookup(name)
	if !ok {
		t.Fatalf("no lock is called %s", name)
	}
	return func(env *Env) (locks.Lock, error) { return k.New(env.Base()) }
}

// mutantConstructor returns the constructor of the mutant of this name.
func mutantConstructor(t *testing.T, name string) New {
	t.Helper()
	m, ok := mutants.Lookup(name)
	if !ok {
		t.Fatalf("no mutant is called %s", name)
	}
	return func(env *Env) (locks.Lock, error) { return m.New(env.Base()) }
}

// runWorlds runs the worlds of a test case on a seed, one by one, and passes each verdict
// on.
func runWorlds(t *testing.T, s *subject, st testCase, seed uint64, onVerdict func(address, verdict)) {
	t.Helper()
	worlds, _, err := st.worlds(s, seed)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range worlds {
		p := address{st.name, w.name, seed}
		onVerdict(p, s.runWorld(p, w))
	}
}

// Locks without a mistake pass the systematic test cases, and every trouble strikes as its
// test case says.
func TestSoundLocksPass(t *testing.T) {
	for _, sound := range []struct {
		name  string
		nodes int
		build New
		// cleansUp means that a failed acquire removes its key. The lock of the Redis
		// documentation for one node does not.
		cleansUp bool
	}{
		{"single", 1, constructorOf(t, "single"), false},
		{"single-token", 1, constructorOf(t, "single-token"), false},
		{"redlock", 5, constructorOf(t, "redlock"), true},
		{"the sound quorum on one node", 1, mutantConstructor(t, "quorum"), true},
		{"the sound quorum on three nodes", 3, mutantConstructor(t, "quorum"), true},
	} {
		t.Run(sound.name, func(t *testing.T) {
			if testing.Short() && sound.nodes > 1 {
				t.Skip("a lock on several nodes has ten times as many worlds")
			}
			s := newSubjectOn(t, sound.nodes, sound.build)
			worlds := 0
			for _, st := range sweepCases() {
				runWorlds(t, s, st, 1, func(p address, v verdict) {
					worlds++
					for _, problem := range v.problems {
						if problem.Rule != checks.KeyLeftBehind || sound.cleansUp {
							t.Errorf("%s: %s", p, problem)
						}
					}
					if why := strings.Join(append(v.reasons, v.notApplicable), "; "); why != "" {
						t.Errorf("%s is inconclusive: %s", p, why)
					}
				})
			}
			if worlds < 200 {
				t.Errorf("%d worlds were run, want at least 200", worlds)
			}
		})
	}
}

// Each mistake of a lock is detected by the test case in which one would look for it, and
// as a violation of the property that describes it.
func TestMistakesAreCaught(t *testing.T) {
	for _, c := range []struct {
		mutant string
		nodes  int
		story  string
		rule   checks.Property
	}{
		{"quorum/release-without-compare", 1, "late-request/release", checks.ReleaseOwnership},
		{"quorum/release-without-compare", 3, "late-request/release/majority", checks.ReleaseOwnership},
		{"quorum/extend-without-compare", 1, "late-request/extend", checks.ReleaseOwnership},
		{"quorum/extend-without-compare", 3, "late-request/extend", checks.ReleaseOwnership},
		{"quorum/extend-sets", 1, "pause/extend", checks.LeaseExclusion},
		{"quorum/extend-sets", 3, "pause/extend", checks.LeaseExclusion},
		{"quorum/extend-counts-errors", 1, "lost-request/extend", checks.LeaseExclusion},
		{"quorum/extend-counts-errors", 3, "errors/extend/majority", checks.LeaseExclusion},
		{"quorum/extend-counts-errors", 3, "silence/work/all", checks.LeaseExclusion},
		{"quorum/value-reused", 1, "late-request/acquire", checks.ReleaseOwnership},
		{"quorum/value-reused", 3, "late-request/acquire", checks.ReleaseOwnership},
		{"quorum/no-elapsed-check", 1, "pause/acquire", checks.SectionExclusion},
		{"quorum/no-elapsed-check", 3, "pause/acquire", checks.SectionExclusion},
		{"single/lease-from-second-try", 1, "late-reply/acquire", checks.LeaseExclusion},
		{"quorum/no-cleanup", 3, "lost-reply/acquire/majority", checks.Progress},
		{"quorum/no-node-timeout", 3, "node-silent/acquire/minority", checks.Progress},
		{"quorum/no-node-timeout", 5, "node-silent/extend/minority", checks.Progress},
		{"quorum/remove-stops-at-error", 3, "partial/released-one-down", checks.Progress},
		{"quorum/remove-stops-at-error", 5, "partial/released-one-down", checks.Progress},
		{"quorum/remove-stops-at-error", 3, "partial/failed-one-down", checks.Progress},
		{"quorum/remove-stops-at-error", 5, "partial/failed-one-down", checks.Progress},
		{"single/takes-expired-in-steps", 1, "waiters/expired", checks.LeaseExclusion},
	} {
		t.Run(fmt.Sprintf("%s, %d nodes, %s", c.mutant, c.nodes, c.story), func(t *testing.T) {
			st, ok := findTestCase(c.story)
			if !ok {
				t.Fatalf("there is no test case %s", c.story)
			}
			caught := false
			var others []string
			runWorlds(t, newSubjectOn(t, c.nodes, mutantConstructor(t, c.mutant)), st, 1, func(p address, v verdict) {
				for _, problem := range v.problems {
					caught = caught || problem.Rule == c.rule
					others = append(others, string(problem.Rule)+" in "+p.String())
				}
			})
			if !caught {
				t.Errorf("no violation of %s was found; found were %v", c.rule, others)
			}
		})
	}
}

// A lock may already fail in a workload in which nothing goes wrong. Then the test cases
// with troubles are not run, and say why.
func TestTroublesDoNotApplyToALockThatFailsUndisturbed(t *testing.T) {
	s := newSubjectOn(t, 1, func(*Env) (locks.Lock, error) { return panicking{}, nil })
	st, _ := findTestCase("lost-reply/acquire")
	worlds, notApplicable, err := st.worlds(s, 1)
	if len(worlds) > 0 || !strings.Contains(notApplicable, undisturbedName) || err != nil {
		t.Errorf("%d worlds, not applicable because %q, error %v; want a reference to the test case %s", len(worlds), notApplicable, err, undisturbedName)
	}
	st, _ = findTestCase(undisturbedName)
	runWorlds(t, s, st, 1, func(p address, v verdict) {
		if len(v.problems) != 1 || v.problems[0].Rule != checks.Panic {
			t.Errorf("%s: got %v, want a panic", p, v.problems)
		}
	})
}

type panicking struct{}

func (panicking) Acquire(ctx context.Context) (locks.Lease, error) { panic("not today") }
