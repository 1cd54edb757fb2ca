package libraries_test

import (
	"flag"
	"testing"

	"github.com/locksim/locksim/internal/catalogue"
)

var (
	random     = flag.Int("random", 300, "how many random scenarios TestRandomScenarios runs; -short runs none")
	randomSeed = flag.Uint64("random-seed", 1, "the seed of the first of them")
)

// Random scenarios over all systems are the same each time.
func TestRandomScenarios(t *testing.T) {
	if testing.Short() {
		t.Skip("the scenarios of the catalogue are enough")
	}
	catalogue.RandomlyDeterministic(t, *randomSeed, *random, *repeats)
}
