package proof

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trackrecord"
)

// stories returns the stories of all bugs.
func stories(t *testing.T) []*scenarios.Scenario {
	bugs, err := Bugs()
	if err != nil || len(bugs) == 0 {
		t.Fatalf("there are no stories: %v", err)
	}
	var all []*scenarios.Scenario
	for _, b := range bugs {
		all = append(all, b.Story)
	}
	return all
}

// A story shows a bug only if a sound lock passes it.
func TestSoundLockPassesEveryStory(t *testing.T) {
	for _, s := range stories(t) {
		t.Run(filepath.Dir(s.File), func(t *testing.T) {
			sound, ok := locks.Lookup(s.Variants[0].Lock)
			if !ok {
				t.Fatalf("no lock is called %s", s.Variants[0].Lock)
			}
			last := uint64(seeds)
			if testing.Short() {
				last = 2
			}
			for seed := uint64(1); seed <= last; seed++ {
				w, err := runStory(s, sound, seed)
				if err != nil || w.unknown != "" || len(w.problems) > 0 {
					t.Fatalf("seed %d: %v, problems %v, unknown %q\n%s", seed, err, w.problems, w.unknown, w.timeline())
				}
			}
			r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
			if err != nil || r.AsExpected == nil || !*r.AsExpected {
				t.Errorf("the results are not those that the file expects: %v", err)
			}
		})
	}
}

// alwaysExtends is a lock with a mistake: its Extend does nothing and returns no error.
type alwaysExtends struct{ locks.Lock }

type alwaysExtendsLease struct{ locks.Lease }

func (l alwaysExtends) Acquire(ctx context.Context) (locks.Lease, error) {
	lease, err := l.Lock.Acquire(ctx)
	return alwaysExtendsLease{lease}, err
}

func (alwaysExtendsLease) Extend(context.Context) error { return nil }

// A story reports exactly the mistake that the lock has.
func TestStoryFindsOnlyTheMistakeOfTheLock(t *testing.T) {
	kind, _ := locks.Lookup("redlock")
	sound := kind.New
	kind.New = func(env *locks.Env) (locks.Lock, error) {
		l, err := sound(env)
		return alwaysExtends{l}, err
	}
	found := map[string]bool{}
	for _, s := range stories(t) {
		w, err := runStory(s, kind, 1)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Dir(s.File)
		extends := slices.Contains([]string{
			"redsync-extends-a-lost-lock", "redsync-v1-extends-a-lost-lock", "redsync-setnx-on-extend",
		}, name)
		broke := slices.ContainsFunc(w.problems, func(p problem) bool { return p.rule == "lease-exclusion" })
		if broke != extends {
			t.Errorf("%s: an Extend that always succeeds breaks lease-exclusion: %v, want %v: %v", name, broke, extends, w.problems)
		}
		found[name] = broke
	}
	if len(found) < 4 {
		t.Errorf("the stories are %v, want at least four", found)
	}
}

// A story is inconclusive if its witness is not observed, whatever the lock does.
func TestStoryWithoutItsWitnessIsInconclusive(t *testing.T) {
	const file = "redsync-extends-a-lost-lock/story.yaml"
	data, err := trackrecord.Bugs.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenarios.Parse(file, []byte(strings.Replace(string(data), "starts: client-1's keys expired", "starts: client-1 finished", 1)))
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := locks.Lookup(s.Variants[0].Lock)
	if w, err := runStory(s, kind, 1); err != nil || !strings.Contains(w.unknown, "did not happen") {
		t.Errorf("client-2 starts only after client-1 has finished: the error is %v, and the story is inconclusive because of %q; want that something did not happen", err, w.unknown)
	}
}
