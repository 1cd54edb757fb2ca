package history

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locksim/locksim/trace"
)

// A spell ends with its matching event, such as a pause with a resume. A failing node does
// not fail while it is down, but it fails again after its restart.
func TestSpells(t *testing.T) {
	ev := func(kind trace.Kind, text string) trace.Event {
		return trace.Event{Kind: kind, Process: "redis-1", Text: text}
	}
	var (
		pause, resume  = ev(trace.KindPause, "stop"), ev(trace.KindResume, "")
		crash, restart = ev(trace.KindCrash, "kill"), ev(trace.KindRestart, "")
		fail, recovers = ev(trace.KindFail, "LOADING"), ev(trace.KindRecover, "")
	)
	for name, c := range map[string]struct {
		events []trace.Event
		want   []string
	}{
		"a pause":                   {[]trace.Event{pause, resume}, []string{"paused (stop) from 1 to 2, went on with 2"}},
		"a pause that a crash ends": {[]trace.Event{pause, crash, restart}, []string{"paused (stop) from 1 to 2", "down (kill) from 2 to 3, went on with 3"}},
		"a pause after a pause":     {[]trace.Event{pause, pause}, []string{"paused (stop) from 1 to 2", "paused (stop) from 2"}},
		"a node fails with one error, then with another":           {[]trace.Event{fail, ev(trace.KindFail, "OOM"), recovers}, []string{"failing (LOADING) from 1 to 2", "failing (OOM) from 2 to 3, went on with 3"}},
		"a failing node crashes and fails again after its restart": {[]trace.Event{fail, crash, restart, recovers}, []string{"failing (LOADING) from 1 to 2", "down (kill) from 2 to 3, went on with 3", "failing (LOADING) from 3 to 4, went on with 4"}},
		"a node begins to fail while it is down":                   {[]trace.Event{crash, fail, restart}, []string{"down (kill) from 1 to 3, went on with 3", "failing (LOADING) from 3"}},
		"a node begins to fail and recovers while it is down":      {[]trace.Event{crash, fail, recovers, restart}, []string{"down (kill) from 1 to 4, went on with 4"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range New(traceEverySecond(c.events...)).Spells() {
				text := fmt.Sprintf("%s (%s) from %d", s.State, s.How, s.Began.Seq)
				if s.Ended != nil {
					text += fmt.Sprintf(" to %d", s.Ended.Seq)
				}
				if recovery := s.RecoveryEvent(); recovery != nil {
					text += fmt.Sprintf(", went on with %d", recovery.Seq)
				}
				got = append(got, text)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("the spells are\n%q, want\n%q", got, c.want)
			}
		})
	}
}
