package mutants_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/locktest/mutants"
)

// seeds is on how many seeds the sound locks must pass.
var seeds = flag.Int("seeds", 3, "tell each story to the sound locks on this many `seeds`")

// raced says that the race detector is on.
var raced bool

// unhurried skips a test where its thousands of worlds would take too long.
func unhurried(t *testing.T) {
	t.Helper()
	if raced || testing.Short() {
		t.Skip("it takes too long with -race or -short")
	}
}

// TestMutants: each mutant is caught by the rule that one would expect.
func TestMutants(t *testing.T) {
	unhurried(t)
	var table strings.Builder
	fmt.Fprintf(&table, "%-38s %-18s %7s  %s\n", "mutant", "caught by", "worlds", "first story")
	for _, m := range mutants.Mutants() {
		t.Run(m.Name, func(t *testing.T) {
			worlds := 0
			var others []string
			for f := range locktest.Survey(t, m.Config, m.New) {
				worlds += f.Worlds
				for _, p := range f.Problems {
					if p.Rule == m.Rule {
						f.Worlds, f.Problems = worlds, []locktest.Problem{p} // until it was caught, and by what
						f.Attr(t)
						fmt.Fprintf(&table, "%-38s %-18s %7d  %s\n", m.Name, m.Rule, worlds, p.Replay)
						return
					}
					others = append(others, fmt.Sprintf("%s in %s: %s", p.Rule, p.Replay, p.Why))
				}
			}
			fmt.Fprintf(&table, "%-38s %-18s %7d\n", m.Name, "NOT BY "+m.Rule, worlds)
			t.Errorf("%s: no world of %d shows %s; what they show is:\n%s", m.Wrong, worlds, m.Rule, strings.Join(others, "\n"))
		})
	}
	t.Log("\n" + table.String())
}

// TestSound: locks without a mistake pass on every seed.
func TestSound(t *testing.T) {
	unhurried(t)
	for _, m := range sound(t) {
		t.Run(m.Name, func(t *testing.T) {
			m.Config.Seeds, m.Config.Sample = *seeds, true
			stories, worlds := 0, 0
			for f := range locktest.Survey(t, m.Config, m.New) {
				worlds += f.Worlds
				if f.Worlds > 0 {
					stories++
				}
				for _, p := range f.Problems {
					t.Errorf("%s in %s: %s", p.Rule, p.Replay, p.Why)
				}
				if f.Unknown != "" && !strings.HasPrefix(f.Story, "catalogue/") {
					t.Logf("%s says nothing: %s", f.Story, f.Unknown)
				}
			}
			t.Logf("%d stories in %d worlds", stories, worlds)
			if stories == 0 {
				t.Error("no story was told")
			}
		})
	}
}

// sound are locks without a mistake.
func sound(t *testing.T) []mutants.Mutant {
	t.Helper()
	sound := mutants.Sound()
	for _, r := range []struct {
		name   string
		config locktest.Config
	}{
		{"single", locktest.Config{Extends: true, OwnClock: true}},
		{"redlock", locktest.Config{Nodes: 5, Extends: true, OwnClock: true}},
		{"single-token", locktest.Config{Extends: true, Tokens: true, OwnClock: true}},
	} {
		k, ok := locks.Lookup(r.name)
		if !ok {
			t.Fatalf("no lock is called %s", r.name)
		}
		sound = append(sound, mutants.Mutant{Name: "locks/" + r.name, Config: r.config,
			New: func(env *locktest.Env) (locks.Lock, error) { return k.New(env.Base()) }})
	}
	return sound
}
