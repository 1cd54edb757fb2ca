package consul_test

import (
	"flag"
	"testing"

	"github.com/locksim/locksim/internal/testkit/suites"
)

var repeats = flag.Int("repeats", 5, "how often TestDeterminism repeats each run; with other locks than the scenario's own a tenth as often, but at least once; -short repeats it once, with its own lock alone")

// Every scenario that is run with these locks has the same trace in each run.
func TestDeterminism(t *testing.T) {
	suites.CheckDeterminism(t, *repeats, suites.OfAdapter("consul"))
}
