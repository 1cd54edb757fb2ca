package reality_test

import (
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/reality"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

func init() {
	programs["refuses-steps"] = program{answers: map[string]func(*server, reality.Command) reality.Answer{
		reality.Step: func(*server, reality.Command) reality.Answer {
			return reality.Answer{Type: reality.Failed, Error: "no"}
		},
	}}
	programs["slow"] = program{answers: map[string]func(*server, reality.Command) reality.Answer{
		reality.Acquire: func(s *server, c reality.Command) reality.Answer {
			time.Sleep(280 * time.Millisecond)
			s.ask("SET", s.key, c.Client, "NX", "PX", "400")
			return reality.Answer{Type: reality.Acquired}
		},
	}}
}

// A program cannot answer a step with failed.
func TestFailedAnswerToAStep(t *testing.T) {
	_, err := play(t, "refuses-steps", "clients:\n  client-1: {}\n")
	if err == nil || !strings.Contains(err.Error(), "answers step with failed") {
		t.Errorf("the error is %v", err)
	}
}

// The step check goes by the end of the latest extension, and without a declared end it
// counts from the call. A lock whose grants never end passes it always.
func TestCheckOfTheLease(t *testing.T) {
	endless := func(cfg *sim.Config) { cfg.Lock.Kind.Endless = true }
	for _, c := range []struct {
		what, program, does string
		changes             []func(*sim.Config)
		want                bool
	}{
		{"extended", "plain", "{works: 480ms, extends-every: 160ms, does: [work, check]}", nil, true},
		{"acquired late", "slow", "{works: 200ms, does: [work, check]}", nil, false},
		{"endless", "plain", "{works: 450ms, does: [work, check]}", []func(*sim.Config){endless}, true},
	} {
		tr := mustPlay(t, c.program, "clients:\n  client-1: "+c.does+"\n", c.changes...)
		checks := 0
		for _, ev := range tr.Events {
			if ev.Kind == trace.KindEnd && ev.Step == trace.Check {
				if checks++; ev.OK != c.want {
					t.Errorf("%s: the check is passed: %v, want %v", c.what, ev.OK, c.want)
				}
			}
		}
		if checks != 1 {
			t.Errorf("%s: the client has done %d checks, want 1", c.what, checks)
		}
	}
}
