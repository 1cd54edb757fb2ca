package runs

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// refusing is a lock that always refuses.
type refusing struct{}

func (refusing) Acquire(context.Context) (locks.Lease, error) { return nil, locks.ErrNotAcquired }

// If a client's code ends a run, Judge returns that as a finding like any other. It does so
// even if the code hangs and there is no trace. A world that makes no sense is an error.
func TestJudge(t *testing.T) {
	world := func(run func()) sim.Config {
		return sim.Config{Name: "conduct", Seed: 1, Horizon: time.Minute, Network: sim.Network{Min: time.Millisecond, Max: time.Millisecond}, Clients: []sim.Client{{
			Name: "client-1", Run: func(context.Context, *sim.Program) error { run(); return nil },
		}}}
	}
	for _, c := range []struct {
		name    string
		run     func()
		want    checks.Property
		history bool
	}{
		{"a client that does nothing", func() {}, "", true},
		{"a panic", func() { panic("oh no") }, checks.Panic, true},
		{"a goroutine that waits for ever", func() { go func() { select {} }() }, checks.GoroutineLeak, true},
	} {
		j, err := Judge(world(c.run), time.Minute, nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if (j.History != nil) != c.history || (j.Ending != nil) != (c.want != "") {
			t.Errorf("%s: the history is %v and the ending %+v; want a history: %v, an ending: %v", c.name, j.History, j.Ending, c.history, c.want != "")
		}
		if got := j.Verdict.Gravest(); got != c.want {
			t.Errorf("%s: the gravest property violated is %q, want %q", c.name, got, c.want)
		}
	}
	// A lock that always refuses, and a program that asks it again without a pause.
	endless := world(nil)
	endless.Clients[0].Run = func(ctx context.Context, p *sim.Program) error {
		for ctx.Err() == nil {
			_, _ = p.Acquire(ctx, refusing{})
		}
		return nil
	}
	if j, err := Judge(endless, time.Minute, nil); err != nil || j.Ending != nil || j.Verdict.Gravest() != "" || len(j.Verdict.Reasons) == 0 {
		t.Errorf("a program without a pause: got the error %v, the ending %+v and the verdict %+v; want no violation, and a doubt", err, j.Ending, j.Verdict)
	}
	if _, err := Judge(sim.Config{}, time.Minute, nil); err == nil || errors.Is(err, sim.ErrStuck) {
		t.Errorf("an empty world: the error is %v, want one that is not ErrStuck", err)
	}
}
