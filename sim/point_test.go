package sim_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A fault strikes as soon as its point is reached, or, if the point has a delay, that much
// later.
func TestFaultStrikesAtItsPoint(t *testing.T) {
	cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		toy := Toy(p, 0)
		for range 3 {
			if err := p.Step(trace.Acquire, func() error { return toy.Do(ctx, fmt.Sprint("set k ", Now(), " 1000")) }); err != nil {
				return err
			}
			SleepUntil(Now().Truncate(10*time.Second) + 10*time.Second)
		}
		return nil
	}))
	for _, test := range []struct {
		point string
		at    time.Duration // when the fault strikes
	}{
		{"client-1 acquired", 4 * Hop},
		{"client-1 acquired, 3rd time", 20*time.Second + 2*Hop},
		{"5s after client-1 acquired", 5*time.Second + 4*Hop},
		{"5s after client-1 acquired, 2nd time", 15*time.Second + 2*Hop},
		{"client-1's keys expired", time.Second + 3*Hop},
		{"client-1's keys expired, 2nd time", 11*time.Second + Hop},
		{"client-1's request to toy-1 is in flight", 2 * Hop},
		{"client-1's acquire request to toy-1 arrived, 2nd time", 10*time.Second + Hop},
		{"toy-1's reply to client-1 is in flight", 3 * Hop},
		{"client-1 failed to acquire or client-1's keys expired", time.Second + 3*Hop},
		{"client-1 finished or client-1 acquired, 2nd time", 10*time.Second + 2*Hop},
	} {
		tr := RunWorld(t, WithFaults(cfg, When(test.point, &sim.Jump{"toy-1", time.Nanosecond})))
		AllFaultsStruck(t, tr)
		EqualTime(t, "the fault with the point "+test.point+" struck", FirstEvent(t, tr, trace.KindStrike, "").At, test.at)
	}
	tr := RunWorld(t, WithFaults(cfg, When("client-1 extended", PauseOf("toy-1"))))
	if idle := tr.Faults[0].IdleReason; !strings.Contains(idle, "when client-1 extended") {
		t.Errorf("a fault whose point was never reached did not act because %q, want the point in that", idle)
	}
}
