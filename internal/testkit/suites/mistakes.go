package suites

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/locktest"
)

// A Mutant is a lock with one mistake, as somebody writes it without a library.
type Mutant struct {
	// Mistake is what the lock does wrong, in a few words. Reported is the title of the mistake
	// that the suite must report for it.
	Mistake, Reported string
	// ReportsLoss means that the lock claims to report a loss at release.
	ReportsLoss bool
	// Once are the beginnings of the names of test cases. If there are any, only the test cases
	// with these names run, and the suite must report no other mistake.
	Once []string
}

// CheckMutants runs the suite against each of the mutants until a world shows what the lock does
// wrong, and against the lock without a mistake, which must pass. config describes the lock to the
// suite. build makes the lock with the given mistake; "" means without a mistake.
func CheckMutants(t *testing.T, config locktest.Config, mutants []Mutant, build func(mistake string) locktest.New) {
	if testing.Short() {
		t.Skip("it runs thousands of worlds")
	}
	t.Run("without a mistake", func(t *testing.T) {
		for f := range locktest.Survey(t, config, build("")) {
			for _, p := range f.Problems {
				t.Errorf("%s in %s: %s", p.Rule, p.Replay, p.Why)
			}
		}
	})
	for _, m := range mutants {
		t.Run(m.Mistake, func(t *testing.T) {
			config := config
			config.ReportsLossAtRelease = m.ReportsLoss
			worlds, found := 0, false
			if len(m.Once) > 0 {
				config.Stories = func(name string) bool {
					return slices.ContainsFunc(m.Once, func(begin string) bool { return strings.HasPrefix(name, begin) })
				}
			}
			var others []string
			for f := range locktest.Survey(t, config, build(m.Mistake)) {
				worlds += f.Worlds
				for _, p := range f.Problems {
					if p.Mistake != m.Reported {
						others = append(others, fmt.Sprintf("%s in %s: %s", p.Mistake, p.Replay, p.Why))
						continue
					}
					if !found {
						t.Logf("caught after %d worlds, in %s: %s", worlds, p.Replay, p.Why)
					}
					if found = true; len(m.Once) == 0 {
						return
					}
				}
			}
			if !found {
				t.Errorf("no world of %d shows that %s", worlds, m.Reported)
			}
			if len(others) > 0 {
				t.Errorf("the worlds show other mistakes:\n%s", strings.Join(others, "\n"))
			}
		})
	}
}
