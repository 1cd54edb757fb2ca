package checks

import (
	"testing"

	"github.com/locksim/locksim/history"
)

// A run in which nothing was at stake is not safe. What it shows to be violated stays
// violated.
func TestIdleRun(t *testing.T) {
	const acquires, writes = `
		plans c1 writes=1
		plans c2 writes=1
		0s c1 acquires rank=1`, `
		1s c1 reads x=0
		2s c1 writes x=1`
	for _, c := range []struct {
		name, script string
		scripted     bool
		want         string
		reason       Code
		progress     Outcome
	}{
		{name: "no client acquired the lock", want: Undecided, reason: Code(nobodyEntered), progress: Violated, script: `
			0s   c1 fails
			300s c1 fails
			300s c1 is-done`},
		{name: "no client acquired another lock", scripted: true, want: Undecided, reason: Code(nobodyEntered), progress: Violated, script: `
			0s   c1 fails
			300s c1 fails
			300s c1 is-done`},
		{name: "no client did anything", want: Undecided, reason: Code(nobodyEntered), progress: NotApplicable, script: `
			0s c1 is-done`},
		{name: "no client wrote", want: Undecided, reason: Code(nobodyWrote), progress: Violated, script: acquires + `
			1s c1 reads x=0
			2s c1 is-done`},
		{name: "no client wrote, and the run follows its story", scripted: true, want: Safe, progress: Violated, script: acquires + `
			1s c1 reads x=0
			2s c1 is-done`},
		{name: "no client was to write", want: Safe, progress: Holds, script: `
			read-only c1
			0s c1 acquires rank=1
			1s c1 reads x=0
			2s c1 releases
			3s c1 is-done`},
		{name: "one client wrote", want: Safe, progress: Violated, script: acquires + writes + `
			3s c2 fails
			4s c2 is-done`},
		{name: "a client wrote without the lock", want: Safe, progress: Violated, script: `
			0s c1 fails` + writes},
	} {
		tr := parseScript(t, c.script).trace
		tr.Unscripted = !c.scripted
		h := history.New(tr)
		v := Check(h, nil)
		v.DoubtIfIdle(h)
		if v.Verdict != c.want {
			t.Errorf("%s: the verdict is %s, want %s; reasons %v", c.name, v.Verdict, c.want, v.Reasons)
		}
		if got := v.Finding(Progress).Outcome; got != c.progress {
			t.Errorf("%s: progress %s, want %s", c.name, got, c.progress)
		}
		if c.reason != "" && (len(v.Reasons) != 1 || v.Reasons[0].Code != c.reason) {
			t.Errorf("%s: the reasons are %v, want %s", c.name, v.Reasons, c.reason)
		}
	}
}
