package checks

import (
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A changed run that was cut off is not safe while a client could still do something: it was
// at work, or it waited for the lock and could still be granted it. A client that has waited
// in vain for longer than any grant lasts leaves no doubt, and neither does one that is
// paused for ever. In the run of a scenario as its author wrote it, a client may wait for the lock
// at the end, but not work.
func TestCutOff(t *testing.T) {
	const holder = `
		0s  c1 acquires rank=1 ends=30s
		1s  c1 reads x=0`
	for _, c := range []struct {
		name, script string
		ttl          time.Duration
		scripted     bool
		starts       string // when c9 starts, which has done nothing
		want         string
	}{
		{name: "nobody was granted the lock", want: Undecided, script: `
			0s c1 calls
			1s c1 is-cut-off`},
		{name: "the scenario is as its author wrote it", want: Safe, scripted: true, script: `
			0s c1 calls
			1s c1 is-cut-off`},
		{name: "a client works, and the scenario is as its author wrote it", want: Undecided, scripted: true, script: holder + `
			2s  c1 starts-to-work
			90s c1 is-cut-off`},
		{name: "an extend is never answered, and the scenario is as its author wrote it", want: Safe, scripted: true, script: holder + `
			2s  c1 starts-to-work
			3s  c1 asks-to-extend
			90s c1 is-cut-off`},
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
		{name: "a client has asked again for a minute, in vain", want: Safe, script: holder + `
			2s  c1 crashes
			3s  c2 fails
			62s c2 fails
			63s c2 is-cut-off`},
		{name: "a client asks again, and its last attempt failed too early", want: Undecided, script: holder + `
			2s  c1 crashes
			3s  c2 fails
			60s c2 fails
			99s c2 is-cut-off`},
		{name: "a client asks again, and its last attempt has just begun", want: Undecided, script: holder + `
			2s  c1 crashes
			60s c2 fails
			98s c2 calls
			99s c2 is-cut-off`},
		{name: "a client asks again, and the holder does some work", want: Undecided, script: holder + `
			60s c2 fails
			99s c2 is-cut-off`},
		{name: "a client has failed, and its next period comes", want: Undecided, script: `
			schedule every=100s periods=2
			3s  c2 fails
			62s c2 fails
			63s c2 is-cut-off`},
		{name: "the holder is paused for good", want: Safe, script: holder + `
			2s  fault-1 strikes stops=c1
			2s  c1 pauses
			62s c2 fails
			63s c2 is-cut-off`},
		{name: "the holder waits for the storage for good, and its lock is renewed", want: Safe, script: holder + `
			2s  fault-1 strikes cuts=c1 from=storage
			3s  c1 sends write
			20s c1 extended ends=50s
			40s c1 extended ends=70s
			60s c1 extended ends=90s
			63s c2 fails
			64s c2 is-cut-off`},
		{name: "a client has not done anything yet", want: Undecided, script: `
			1s c1 reads x=0
			2s c1 is-done
			3s c9 is-cut-off`},
		{name: "a client's start is to come", starts: "5s after c1 finished", want: Undecided, script: `
			1s c1 reads x=0
			2s c1 is-done
			6s c9 is-cut-off`},
		{name: "a client's start has a time", starts: "9s after the start", want: Undecided, script: `
			1s c1 reads x=0
			2s c1 is-done
			6s c9 is-cut-off`},
		{name: "a client waits for an event that never came", starts: "5s after c1 crashed", want: Safe, script: `
			1s c1 reads x=0
			2s c1 is-done
			6s c9 is-cut-off`},
	} {
		tr := parseScript(t, c.script).trace
		tr.Unscripted = !c.scripted
		for i, p := range tr.Processes {
			if p.Name == "c9" && c.starts != "" {
				tr.Processes[i].Awaits = parsePoint(t, c.starts)
			}
		}
		for i := range tr.Locks {
			tr.Locks[i].TTL = c.ttl
		}
		if v := Check(history.New(tr), nil); v.Verdict != c.want {
			t.Errorf("%s: the verdict is %s, want %s; reasons %v", c.name, v.Verdict, c.want, v.Reasons)
		}
	}
}

// A changed run that was cut off before a fault was due is not safe. A fault whose event never
// came does not matter.
func TestCutOffBeforeFault(t *testing.T) {
	for _, c := range []struct {
		trigger trace.Trigger
		want    string
	}{
		{trace.Trigger{At: 100 * time.Second}, Undecided},
		{trace.Trigger{When: parsePoint(t, "5s after c1 failed to acquire, 2nd time")}, Undecided},
		{trace.Trigger{When: parsePoint(t, "5s after c1 acquired")}, Safe},
		{trace.Trigger{Before: trace.StepPoint{Client: "c1", Step: trace.Write}}, Safe},
	} {
		tr := parseScript(t, `
			1s  c1 fails
			92s c1 fails
			93s c1 is-cut-off`).trace
		tr.Unscripted = true
		tr.Faults = []trace.FaultInfo{{Text: "pause c1", IdleReason: "it did not begin", Trigger: c.trigger}}
		if v := Check(history.New(tr), nil); v.Verdict != c.want {
			t.Errorf("a fault %s: the verdict is %s, want %s; reasons %v", c.trigger, v.Verdict, c.want, v.Reasons)
		}
	}
}

func parsePoint(t *testing.T, text string) trace.Point {
	t.Helper()
	p, err := trace.ParsePoint(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
