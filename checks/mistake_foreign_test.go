package checks

import (
	"math"
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A failed acquire that cleans up with the code of the release makes the release's mistake, even if
// the clean-up is all that it sends, or if its process has run on while it was paused. The scripts
// are traces written by hand; see [script].
func TestCallOfDamage(t *testing.T) {
	const header = `
		lock L ttl=10s nodes=A quorum=1
		0s  c1 calls
		0s  c1 commands A text=SET
		0s  A  sets by=c1/1@2
		1s  c1 acquires rank=1
		2s  c2 calls`
	const released = `
		3s  c2 fails
		4s  c1 asks-to-release
		4s  c1 commands A text=DEL
		4s  c1 released`
	for _, test := range []struct {
		name, story string
		want        trace.Step
	}{
		{"acquire asks, and cleans up", header + `
			2s  c2 commands A text=SET
			2s  c2 commands A text=DEL
			2s  A  deletes by=c2/1@7 of=c1/1` + released, trace.Release},
		{"acquire sends its clean-up only", header + `
			2s  c2 commands A text=DEL
			2s  A  deletes by=c2/1@6 of=c1/1` + released, trace.Release},
		{"the client has run on while it was paused", header + `
			2s  c2 pauses
			2s  c2 runs-on
			2s  c2 resumes
			2s  c2 commands A text=DEL
			2s  A  deletes by=c2/1@9 of=c1/1` + released, trace.Release},
		{"each acquire begins with the command", header + `
			2s  c2 commands A text=DEL
			2s  A  deletes by=c2/1@6 of=c1/1
			2s  c2 commands A text=SET` + released, trace.Acquire},
		{"acquire sends its clean-up only, and no release sends the command", header + `
			2s  c2 commands A text=DEL
			2s  A  deletes by=c2/1@6 of=c1/1
			3s  c2 fails
			4s  c1 asks-to-release
			4s  c1 commands A text=EVAL
			4s  c1 released`, trace.Release},
		{"acquire asks, and no release sends the command", header + `
			2s  c2 commands A text=SET
			2s  c2 commands A text=DEL
			2s  A  deletes by=c2/1@7 of=c1/1
			3s  c2 fails
			4s  c1 asks-to-release
			4s  c1 commands A text=EVAL
			4s  c1 released`, trace.Acquire},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := parseScript(t, test.story).trace
			calls := map[string]trace.Step{} // that each client is in
			for i := range tr.Events {
				switch ev := &tr.Events[i]; ev.Kind {
				case trace.KindBegin:
					calls[ev.Process] = ev.Step
				case trace.KindSend:
					ev.Step = calls[ev.Process]
				}
			}
			h := &judgedRun{history.New(tr)}
			d := h.firstDamage(math.MaxInt)
			if d == nil {
				t.Fatal("no damage is found")
			}
			if d.step != test.want {
				t.Errorf("the damage is attributed to the call %q, want %q", d.step, test.want)
			}
		})
	}
}
