package runs

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/sim"
)

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
	if _, err := Judge(sim.Config{}, time.Minute, nil); err == nil || errors.Is(err, sim.ErrStuck) {
		t.Errorf("an empty world: the error is %v, want one that is not ErrStuck", err)
	}
}
