package sim_test

import (
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// playCancelled runs a world with one client and a lock on three nodes. A fault cancels the
// client's call of the lock at a point.
func playCancelled(t *testing.T, at string, more ...sim.Fault) *trace.Trace {
	cfg := worldOnThreeNodes(sim.Client{Name: "client-1", Works: time.Second, ExtendsEvery: 400 * time.Millisecond})
	return RunWorld(t, WithFaults(cfg, append(more, When(at, &sim.Cancel{Client: "client-1"}))...))
}

// The fault cancels the client's current call, once. The cancelled call sends nothing to
// further nodes, and the client's next call is not cancelled.
func TestCancelFault(t *testing.T) {
	// By the point at which the fault strikes: the step and section of the cancelled call,
	// and the client's steps.
	for at, want := range map[string]struct{ cancels, steps string }{
		"client-1's acquire request to toy-1 is in flight": {"acquire 1", "acquire failed, acquire, read x, extend, extend, work, write x, release"},
		"client-1's extend request to toy-1 is in flight":  {"extend 1", "acquire, read x, extend failed, work failed, release"},
		"client-1's release request to toy-1 is in flight": {"release 1", "acquire, read x, extend, extend, work, write x, release failed"},
	} {
		tr := playCancelled(t, at)
		Equal(t, at+": the cancelled calls", Cancels(tr, "client-1"), want.cancels)
		Equal(t, at+": the client's steps", Steps(tr, "client-1"), want.steps)
		Equal(t, at+": why the fault did not act", tr.Faults[0].IdleReason, "")
		Equal(t, at+": the assumption that the fault breaks", tr.Faults[0].Assumption, "")
	}
}

// If the client is not calling its lock, the fault strikes in vain, and the trace says why.
func TestCancelFaultInVain(t *testing.T) {
	for _, at := range []string{"client-1 acquired", "storage applied client-1's write"} {
		tr := playCancelled(t, at)
		Equal(t, at+": why the fault did not act", tr.Faults[0].IdleReason, "client-1 had no running call of its lock that could be cancelled")
		Equal(t, at+": the cancelled calls", Cancels(tr, "client-1"), "")
	}
}

// A paused client cancels the call when it resumes.
func TestCancelFaultWhilePaused(t *testing.T) {
	const asks = "client-1's acquire request to toy-1 is in flight"
	tr := playCancelled(t, "500us after "+asks, Lasting(time.Second, When(asks, PauseOf("client-1"))))
	EqualTime(t, "the client cancelled its call", OnlyEvent(t, tr, trace.KindCancel, "client-1").At, time.Second)
}
