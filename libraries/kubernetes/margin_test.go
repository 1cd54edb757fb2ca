package kubernetes_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
)

// A leader that is cut off is notified 12 s after its last renewal, which is RenewDeadline
// and RetryPeriod together. A waiter takes the Lease when 15 s have passed by the waiter's
// own clock. So a waiter's clock may run up to 15/12 = 1.25 times as fast as it should. If
// it runs faster, two clients may lead at the same time; that depends on when the waiter
// reads the Lease.
func TestMarginOfClocks(t *testing.T) {
	const seeds = 30
	for _, c := range []struct {
		rate sim.Rate
		harm bool // whether two clients are at work at the same time, in at least one world
	}{{0, false}, {24 * sim.Percent, false}, {50 * sim.Percent, true}} {
		harmed := 0
		for seed := range uint64(seeds) {
			cfg := world(t, "kubernetes",
				sim.Client{Name: "client-1", WorksUntil: Point("client-1's keys expired")},
				sim.Client{Name: "client-2", Starts: Point("client-1 read")})
			cfg.Seed = seed + 1
			cfg.Lock.Options.Without = []string{"release-on-cancel"}
			cfg = WithFaults(cfg, Lasting(time.Minute, When("client-1 read", &sim.Partition{Process: "client-1", From: []string{"kubernetes-1"}})))
			if c.rate != 0 {
				cfg = WithFaults(cfg, At(0, &sim.Drift{Process: "client-2", Rate: c.rate}))
			}
			if strings.Contains(Violations(RunWorld(t, cfg)), "section-exclusion") {
				harmed++
			}
		}
		if t.Logf("%v too fast: two at work in %d of %d worlds", c.rate, harmed, seeds); harmed > 0 != c.harm {
			t.Errorf("%v too fast: two at work in %d of %d worlds, want any: %v", c.rate, harmed, seeds, c.harm)
		}
	}
}
