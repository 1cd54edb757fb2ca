package checks

import (
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A release that asks another session than the one that holds the advisory lock makes a mistake
// of its own. It makes none if it asks the session that holds the lock, or if it asks that
// session as well. The script is a trace written by hand; see [script].
func TestUnlockInOtherSession(t *testing.T) {
	const story = `
			lock L ttl=0s nodes=A quorum=1
			0s  c1 calls
			1s  c1 commands A text=pg_try_advisory_lock(7)
			1s  A  sets by=c1/1
			2s  c1 acquires rank=1
			3s  c1 asks-to-release
			3s  c1 commands A text=pg_advisory_unlock(7)
			3s  c1 commands A text=pg_advisory_unlock(7)
			4s  c1 released`
	for _, test := range []struct {
		name  string
		conns [3]int // the connection of each request
		want  Mistake
	}{
		{"both requests use another connection", [3]int{1, 2, 2}, unlocksInOtherSession},
		{"the second request uses the connection that holds the lock", [3]int{1, 2, 1}, Mistake(ReleaseAnswer)},
		{"both requests use the connection that holds the lock", [3]int{1, 1, 1}, Mistake(ReleaseAnswer)},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := parseScript(t, story).trace
			tr.Events = withConnections(tr.Events, test.conns)
			h := history.New(tr)
			released := Finding{Property: ReleaseAnswer, Outcome: Violated, Blame: BlameLock}
			for i := range tr.Events {
				if ev := &tr.Events[i]; ev.Kind == trace.KindBegin && ev.Step == trace.Release {
					released.At, released.Events = ev.Seq, []int{ev.Seq}
				}
			}
			causes := Causes(h, []Finding{released})
			if len(causes) != 1 || causes[0].Mistake != test.want {
				t.Errorf("the causes are %+v, want one with the mistake %s", causes, test.want)
			}
		})
	}
}

// withConnections returns events in which the requests have these connections, belong to the
// calls around them, and arrive immediately. The first request has set the key.
func withConnections(events []trace.Event, conns [3]int) (all []trace.Event) {
	sent := 0
	for _, ev := range events {
		if ev.Kind == trace.KindSet {
			ev.By = &trace.Actor{Client: "c1", Section: 1, Sent: all[len(all)-2].Seq}
		}
		if ev.Kind != trace.KindSend {
			ev.Seq = len(all) + 1
			all = append(all, ev)
			continue
		}
		ev.Step, ev.Conn, ev.Msg, ev.Section = trace.Release, conns[sent], sent+1, 1
		if sent == 0 {
			ev.Step = trace.Acquire
		}
		sent++
		arrived := ev
		arrived.Kind, arrived.Process, arrived.Peer = trace.KindDeliver, ev.Peer, ev.Process
		ev.Seq, arrived.Seq = len(all)+1, len(all)+2
		all = append(all, ev, arrived)
	}
	return all
}
