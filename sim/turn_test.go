package sim_test

import (
	"context"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A goroutine of a paused process gets its turn when the process resumes. The trace says
// that the process did something while it was paused.
func TestTurnOfPausedProcess(t *testing.T) {
	var asked, had time.Duration // when the goroutine asked for its turn, and had it
	cfg := ToyWorld(Client(t, "client-1", func(_ context.Context, p *sim.Program) error {
		time.Sleep(10 * time.Second) // true time: a library uses package time
		asked = Now()
		p.Env().WaitTurn("ping")
		had = Now()
		return nil
	}))
	tr := RunWorld(t, WithFaults(cfg, Lasting(time.Minute, At(time.Second, &sim.Pause{Process: "client-1"}))))
	if asked != 10*time.Second || had < 61*time.Second || had > 62*time.Second {
		t.Errorf("the goroutine asked at %v and had its turn at %v, want 10s and 61s", asked, had)
	}
	ran := 0
	for _, ev := range tr.Events {
		if ev.Kind == trace.KindRanOn {
			ran++
		}
	}
	Equal(t, "number of events that say that the process ran on", ran, 1)
}

// A goroutine of a crashed process never gets its turn, and does not prevent the end of the
// world.
func TestTurnOfCrashedProcess(t *testing.T) {
	over := false
	cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		time.Sleep(10 * time.Second)
		p.Env().WaitTurn("ping")
		over = ctx.Err() != nil
		return nil
	}), Client(t, "client-2", func(_ context.Context, p *sim.Program) error {
		SleepUntil(time.Minute)
		return nil
	}))
	RunWorld(t, WithFaults(cfg, At(time.Second, CrashOf("client-1", trace.Kill))))
	if !over {
		t.Error("the goroutine of the crashed process had its turn before the end of the world")
	}
}
