package mutants_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/mutants"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
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

// claims is what a lock claims.
func claims(m mutants.Mutant) locktest.Config {
	c := locktest.Config{Nodes: m.Nodes, Extends: !m.Renews, Notifies: m.Notifies, Tokens: m.Tokens, OwnClock: true}
	if m.Name == "single/spins" {
		c.Patience = 2 * time.Second // nobody has to wait longer to be sure
	}
	return c
}

// build makes a lock.
func build(m mutants.Mutant) locktest.New {
	return func(env *locktest.Env) (locks.Lock, error) { return m.New(env.Base()) }
}

// TestMutants: each mutant is caught by the rule that one would expect.
func TestMutants(t *testing.T) { caught(t, mutants.Mutants()) }

// TestElusive: so is each that an exploration does not find out.
func TestElusive(t *testing.T) { caught(t, mutants.Elusive()) }

// caught puts mutants through the suite, each until a world shows its rule.
func caught(t *testing.T, all []mutants.Mutant) {
	unhurried(t)
	var table strings.Builder
	fmt.Fprintf(&table, "%-38s %-18s %7s  %s\n", "mutant", "caught by", "worlds", "first story")
	for _, m := range all {
		t.Run(m.Name, func(t *testing.T) {
			worlds := 0
			var others []string
			for f := range locktest.Survey(t, claims(m), build(m)) {
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
			if m.Name == "locks/redlock" {
				t.Skip("package locktest puts it through the suite")
			}
			config := claims(m)
			config.Seeds, config.Sample = *seeds, true
			stories, worlds := 0, 0
			for f := range locktest.Survey(t, config, build(m)) {
				worlds += f.Worlds
				if f.Worlds > 0 {
					stories++
				}
				for _, p := range f.Problems {
					// Those locks of the Redis documentation leave the key of a failed acquire.
					if p.Rule == "key left behind" && (m.Name == "locks/single" || m.Name == "locks/single-token") {
						continue
					}
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
	for _, m := range []mutants.Mutant{
		{Name: "single", Nodes: 1},
		{Name: "redlock", Nodes: 5},
		{Name: "single-token", Nodes: 1, Tokens: true},
	} {
		k, ok := locks.Lookup(m.Name)
		if !ok {
			t.Fatalf("no lock is called %s", m.Name)
		}
		m.Name, m.New = "locks/"+m.Name, k.New
		sound = append(sound, m)
	}
	return sound
}
