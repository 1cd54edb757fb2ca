package mutants_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/mutants"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// seeds is how many seeds the locks without a mistake must pass.
var seeds = flag.Int("seeds", 3, "run each test case against the sound locks on this many `seeds`")

// hasRaceDetector means that the tests run with the race detector.
var hasRaceDetector bool

// skipIfSlow skips a test of thousands of worlds if they would take too long here.
func skipIfSlow(t *testing.T) {
	t.Helper()
	if hasRaceDetector || testing.Short() {
		t.Skip("this test takes too long with -race or -short")
	}
}

// configOf returns the Config that a mutant claims to fulfil.
func configOf(m mutants.Mutant) locktest.Config {
	c := locktest.Config{Nodes: m.Nodes, Extends: !m.Renews, Notifies: m.Notifies, Tokens: m.Tokens, ReportsLossAtRelease: m.ReportsLoss, OwnClock: !strings.HasPrefix(m.Name, "plain")}
	if m.Name == "single/spins" {
		c.Patience = 2 * time.Second // a longer wait shows nothing more
	}
	return c
}

// build returns the constructor of a mutant.
func build(m mutants.Mutant) locktest.New {
	return func(env *locktest.Env) (locks.Lock, error) { return m.New(env.Base()) }
}

// TestMutants: the suite detects each mutant, and reports the rule that one would expect.
func TestMutants(t *testing.T) { expectCaught(t, mutants.Mutants()) }

// TestElusive: the suite also detects each mutant that an exploration does not detect.
func TestElusive(t *testing.T) { expectCaught(t, mutants.Elusive()) }

// expectCaught runs the suite against each of the mutants until a world violates the
// mutant's rule. It fails the test if none does.
func expectCaught(t *testing.T, all []mutants.Mutant) {
	skipIfSlow(t)
	var table strings.Builder
	fmt.Fprintf(&table, "%-38s %-18s %7s  %s\n", "mutant", "caught by", "worlds", "first test case")
	for _, m := range all {
		t.Run(m.Name, func(t *testing.T) {
			worlds := 0
			var others []string
			for f := range locktest.Survey(t, configOf(m), build(m)) {
				worlds += f.Worlds
				for _, p := range f.Problems {
					if p.Rule == m.Rule {
						f.Worlds, f.Problems = worlds, []locktest.Problem{p} // the worlds until the mutant was detected, and the problem that shows it
						f.Attr(t)
						fmt.Fprintf(&table, "%-38s %-18s %7d  %s\n", m.Name, m.Rule, worlds, p.Replay)
						if want := mistakeOf(m); p.Mistake != want {
							t.Errorf("%s: the report says %q, want %q", m.Description, p.Mistake, want)
						}
						return
					}
					others = append(others, fmt.Sprintf("%s in %s: %s", p.Rule, p.Replay, p.Why))
				}
			}
			fmt.Fprintf(&table, "%-38s %-18s %7d\n", m.Name, "NOT BY "+m.Rule, worlds)
			t.Errorf("%s: no world of %d shows %s; the worlds show:\n%s", m.Description, worlds, m.Rule, strings.Join(others, "\n"))
		})
	}
	t.Log("\n" + table.String())
}

// mistakeOf returns what the report must say that a mutant does wrong.
func mistakeOf(m mutants.Mutant) string {
	for does, names := range mistakes {
		if slices.Contains(names, m.Name) {
			return does
		}
	}
	return checks.Property(m.Rule).Card().Broken
}

// TestToldOnce: the report on a mutant that touches the keys of others, or ignores answers, has one
// mistake, whatever follows from it.
func TestToldOnce(t *testing.T) {
	skipIfSlow(t)
	for _, name := range []string{
		"plain/compares-prefix", "plain/release-expires", "plain/release-overwrites", "plain/watches-other-key",
		"plain/seeded-alike", "plain/refused-renews", "plain/ttl-of-deadline", "plain/counter-expires", "plain/keeps-mutex",
		"plain/release-takes-and-puts-back", "single/extends-other-key", "renewing/renews-nothing",
		"quorum/extend-on-one-node", "quorum/value-reused", "plain/deletes-after-error", "single/get-then-expire",
		"plain/release-blanks",
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := mutants.Lookup(name)
			config := configOf(m)
			// The scenarios of the catalogue would take too long, and show nothing more.
			config.Stories = func(name string) bool { return !strings.HasPrefix(name, "catalogue/") }
			examples := map[string]string{}
			for f := range locktest.Survey(t, config, build(m)) {
				for _, p := range f.Problems {
					examples[p.Mistake] = fmt.Sprintf("%s in %s: %s", p.Rule, p.Replay, p.Why)
				}
			}
			if want := mistakeOf(m); len(examples) != 1 || examples[want] == "" {
				t.Errorf("%s: the report has %d mistakes, want only %q:\n%v", m.Description, len(examples), want, examples)
			}
		})
	}
}

// TestSound: locks without a mistake pass on every seed.
func TestSound(t *testing.T) {
	skipIfSlow(t)
	for _, m := range soundLocks(t) {
		t.Run(m.Name, func(t *testing.T) {
			if m.Name == "locks/redlock" {
				t.Skip("package locktest runs the suite against it")
			}
			config := configOf(m)
			config.Seeds, config.Sample = *seeds, true
			stories, worlds := 0, 0
			for f := range locktest.Survey(t, config, build(m)) {
				worlds += f.Worlds
				if f.Worlds > 0 {
					stories++
				}
				for _, p := range f.Problems {
					// The lock of the Redis documentation leaves its key behind when
					// acquire fails, with or without tokens.
					if p.Rule == "key left behind" && (m.Name == "locks/single" || m.Name == "locks/single-token") {
						continue
					}
					t.Errorf("%s in %s: %s", p.Rule, p.Replay, p.Why)
				}
				if f.Unknown != "" && !strings.HasPrefix(f.TestCase, "catalogue/") {
					t.Logf("%s is unknown: %s", f.TestCase, f.Unknown)
				}
			}
			t.Logf("%d test cases in %d worlds", stories, worlds)
			if stories == 0 {
				t.Error("no test case was run")
			}
		})
	}
}

// soundLocks returns the locks without a mistake.
func soundLocks(t *testing.T) []mutants.Mutant {
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
