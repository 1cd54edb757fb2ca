package locktest

import (
	"math/rand"
	"os"
	"strings"
)

// seedGlobal seeds the global source of math/rand, from which libraries draw the
// jitter of their retries, so that a world is the same whatever ran before it.
// That of math/rand/v2 cannot be seeded.
func seedGlobal(seed uint64) {
	// Seed does nothing without this setting.
	const setting = "randseednop=0"
	if debug := os.Getenv("GODEBUG"); !strings.Contains(debug, setting) {
		os.Setenv("GODEBUG", strings.TrimPrefix(debug+","+setting, ","))
	}
	//lint:ignore SA1019 a source of one's own does not reach other people's libraries
	rand.Seed(int64(seed))
}
