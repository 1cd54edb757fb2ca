package story

import (
	"slices"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/trace"
)

// The summaries say in a few sentences what happened to the data and to the lock.
func TestSummaries(t *testing.T) {
	const overlap = "client-2 entered its critical section at 30.009s, while client-1 was in its own from 5ms until 30.026s. Blame: not the lock. The two leases never overlapped, and no lock whose leases expire can prevent this."
	const nothing = "client-1's release returned success at 30.027s, but released nothing: its key expired on redis-3 at 30.004s."
	empty, doubtful := simtest.NewScript("none", 1), simtest.NewScript("none", 1)
	doubtful.Doubts = []string{"nobody knows"}
	// ungranted returns a run in which nobody granted the lock to these clients, as with a circuit
	// breaker whose fallback is to go ahead.
	ungranted := func(clients ...string) *trace.Trace {
		run := simtest.PausedHolderTrace("none")
		for i := range run.Events {
			if ev := &run.Events[i]; ev.Step == trace.Acquire {
				ev.Lock, ev.Ungranted = "x", ev.OK && slices.Contains(clients, ev.Process)
			}
		}
		return run
	}
	slotless := ungranted("client-1", "client-2") // the trace does not know where this lock keeps its grants
	slotless.Locks[0].Slots = nil
	for _, c := range []struct {
		name  string
		trace *trace.Trace
		data  Raw
		locks []Raw
	}{
		{"without fencing", simtest.PausedHolderTrace("none"),
			"unsafe. client-1's write of x at 30.024s replaced the write that client-2, which held a newer grant, had made at 30.014s.", []Raw{overlap}},
		{"with fencing", simtest.PausedHolderTrace("writes"),
			"safe. The storage refused client-1's write at 30.024s: token 1 is older than token 2, which the storage has already seen.", []Raw{overlap}},
		{"without grants", ungranted("client-1", "client-2"),
			"unsafe. client-1's write of x at 30.024s replaced the write that client-2, whose section had begun later, had made at 30.014s.", []Raw{overlap, nothing}},
		{"with one grant", ungranted("client-1"),
			"unsafe. client-1's write of x at 30.024s replaced the write that client-2, which held a newer grant, had made at 30.014s.", []Raw{overlap, nothing}},
		{"with grants that no slot shows", slotless,
			"unsafe. client-1's write of x at 30.024s replaced the write that client-2, which held a newer grant, had made at 30.014s.", []Raw{overlap}},
		{"no events", &empty.Trace, "safe. The data is unchanged: nothing was written.", nil},
		{"an inconclusive run", &doubtful.Trace, "unknown. The run is inconclusive: nobody knows.", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := history.New(c.trace)
			v := checks.Check(h, nil)
			if got := VerdictAndData(h, v); got != c.data {
				t.Errorf("the summary of the data is\n%s\nwant\n%s", got, c.data)
			}
			if got := LockSummary(v); !slices.Equal(got, c.locks) {
				t.Errorf("the summary of the lock is\n%q\nwant\n%q", got, c.locks)
			}
		})
	}
}
