package locktest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/locks"
)

// lockOn is a subject with a lock on so many nodes.
func lockOn(t *testing.T, nodes int, build New) *subject {
	t.Helper()
	s, err := newSubject(t.Name(), Config{Nodes: nodes, Extends: true, OwnClock: true}, build)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ofKind makes the locks of a kind of package locks.
func ofKind(t *testing.T, name string) New {
	t.Helper()
	k, ok := locks.Lookup(name)
	if !ok {
		t.Fatalf("no lock is called %s", name)
	}
	return func(env *Env) (locks.Lock, error) { return k.New(env.Base()) }
}

// eachWorld tells a story, world by world, on a seed.
func eachWorld(t *testing.T, s *subject, st story, seed uint64, judged func(place, verdict)) {
	t.Helper()
	worlds, _, err := st.worlds(s, seed)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range worlds {
		p := place{st.name, w.name, seed}
		judged(p, s.tell(p, w))
	}
}

// Locks that are right pass, and every trouble comes as its story says.
func TestSoundLocksPass(t *testing.T) {
	for _, sound := range []struct {
		name  string
		nodes int
		build New
	}{
		{"single", 1, ofKind(t, "single")},
		{"single-token", 1, ofKind(t, "single-token")},
		{"redlock", 5, ofKind(t, "redlock")},
		{"flawless on one node", 1, withFlaw("")},
		{"flawless on three nodes", 3, withFlaw("")},
	} {
		t.Run(sound.name, func(t *testing.T) {
			s := lockOn(t, sound.nodes, sound.build)
			worlds := 0
			for _, st := range sweepStories() {
				eachWorld(t, s, st, 1, func(p place, v verdict) {
					worlds++
					for _, problem := range v.problems {
						t.Errorf("%s: %s", p, problem)
					}
					if why := strings.Join(append(v.reasons, v.untold), "; "); why != "" {
						t.Errorf("%s proves nothing: %s", p, why)
					}
				})
			}
			if worlds < 200 {
				t.Errorf("only %d worlds", worlds)
			}
		})
	}
}

// Each flaw is caught where one would look for it, and by the property that says
// what is wrong with it.
func TestFlawsAreCaught(t *testing.T) {
	for _, c := range []struct {
		flaw  flaw
		nodes int
		story string
		rule  checks.Property
	}{
		{deletesAnything, 1, "late-request/release", checks.ReleaseOwnership},
		{deletesAnything, 3, "late-request/release/majority", checks.ReleaseOwnership},
		{prolongsAnything, 1, "late-request/extend", checks.ReleaseOwnership},
		{prolongsAnything, 3, "late-request/extend", checks.ReleaseOwnership},
		{revives, 1, "pause/extend", checks.LeaseExclusion},
		{revives, 3, "pause/extend", checks.LeaseExclusion},
		{believesErrors, 1, "lost-request/extend", checks.LeaseExclusion},
		{believesErrors, 3, "errors/extend/majority", checks.LeaseExclusion},
		{believesErrors, 3, "silence/work/all", checks.LeaseExclusion},
		{reusesValue, 1, "late-request/acquire", checks.ReleaseOwnership},
		{reusesValue, 3, "late-request/acquire", checks.ReleaseOwnership},
		{ignoresTime, 1, "pause/acquire", checks.SectionExclusion},
		{ignoresTime, 3, "pause/acquire", checks.SectionExclusion},
		{adopts, 1, "late-reply/acquire", checks.LeaseExclusion},
		{forgets, 3, "lost-reply/acquire/majority", checks.Progress},
	} {
		t.Run(fmt.Sprintf("%s, %d nodes, %s", c.flaw, c.nodes, c.story), func(t *testing.T) {
			st, ok := find(c.story)
			if !ok {
				t.Fatalf("there is no story %s", c.story)
			}
			caught := false
			var others []string
			eachWorld(t, lockOn(t, c.nodes, withFlaw(c.flaw)), st, 1, func(p place, v verdict) {
				for _, problem := range v.problems {
					caught = caught || problem.Rule == string(c.rule)
					others = append(others, problem.Rule+" in "+p.String())
				}
			})
			if !caught {
				t.Errorf("no %s; there is %v", c.rule, others)
			}
		})
	}
}

// A lock that fails in the base story already is not put through the others.
func TestNothingToListenTo(t *testing.T) {
	s := lockOn(t, 1, func(*Env) (locks.Lock, error) { return panicking{}, nil })
	st, _ := find("lost-reply/acquire")
	worlds, untold, err := st.worlds(s, 1)
	if len(worlds) > 0 || !strings.Contains(untold, undisturbed) || err != nil {
		t.Errorf("%d worlds, untold %q, error %v; want to be sent to the story %s", len(worlds), untold, err, undisturbed)
	}
	st, _ = find(undisturbed)
	eachWorld(t, s, st, 1, func(p place, v verdict) {
		if len(v.problems) != 1 || v.problems[0].Rule != rulePanic {
			t.Errorf("%s: got %v, want a panic", p, v.problems)
		}
	})
}

type panicking struct{}

func (panicking) Acquire(ctx context.Context) (locks.Lease, error) { panic("not today") }
