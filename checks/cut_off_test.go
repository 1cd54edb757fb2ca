package checks

import (
	"testing"
	"time"

	"github.com/locksim/locksim/history"
)

// A changed run that was cut off is not safe while a client could still do something: it was
// at work, or it waited for the lock and could still be granted it. A client that has waited
// in vain for longer than any grant lasts leaves no doubt. The run of a scenario as its author
// wrote it is judged by its witnesses instead.
func TestCutOff(t *testing.T) {
	const holder = `
		0s  c1 acquires rank=1 ends=30s
		1s  c1 reads x=0`
	for _, c := range []struct {
		name, script string
		ttl          time.Duration
		scripted     bool
		want         string
	}{
		{name: "nobody was granted the lock", want: Undecided, script: `
			0s c1 calls
			1s c1 is-cut-off`},
		{name: "the scenario is as its author wrote it", want: Safe, scripted: true, script: `
			0s c1 calls
			1s c1 is-cut-off`},
		{name: "a holder is at work, and the first client waits", want: Undecided, script: `
			0s  c1 calls
			1s  c2 acquires rank=1 ends=300s
			2s  c2 reads x=0
			90s c1 is-cut-off`},
		{name: "a waiter waits for the grant of a crashed holder", want: Undecided, script: holder + `
			2s  c1 crashes
			3s  c2 calls
			20s c2 is-cut-off`},
		{name: "a waiter waits for longer than a minute", want: Safe, script: holder + `
			2s  c1 crashes
			3s  c2 calls
			63s c2 is-cut-off`},
		{name: "a waiter waits for longer than a minute, and grants last longer", want: Undecided, ttl: 30 * time.Second, script: holder + `
			2s  c1 crashes
			3s  c2 calls
			63s c2 is-cut-off`},
		{name: "a fault was lifted in the last minute", want: Undecided, script: holder + `
			2s  c1 crashes
			3s  c2 calls
			4s  fault-1 strikes
			50s fault-1 lifts
			80s c2 is-cut-off`},
	} {
		tr := parseScript(t, c.script).trace
		tr.Unscripted = !c.scripted
		for i := range tr.Locks {
			tr.Locks[i].TTL = c.ttl
		}
		if v := Check(history.New(tr), nil); v.Verdict != c.want {
			t.Errorf("%s: the verdict is %s, want %s; reasons %v", c.name, v.Verdict, c.want, v.Reasons)
		}
	}
}
