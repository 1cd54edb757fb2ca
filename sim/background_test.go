package sim_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A listener is a test server. A world has two of them. The first sends the second a
// background message each second. The second records when it receives such a message, and
// both record when Attend is called. See [sim.Attentive].
type listener struct {
	host *sim.Host
	// receivedAt are the true times at which a message arrived.
	receivedAt []time.Duration
	// attendedAt are the true times at which Attend was called, rounded to a second.
	attendedAt []time.Duration
}

// listeners are the listeners of the latest world, in the order of its nodes.
var listeners []*listener

func init() {
	sim.RegisterSystem(sim.System{
		Name: "listener", Title: "a listener", Node: "listener", Port: 7200,
		Framer: func(*sim.Names) sim.Framer { return lineFramer{} },
		Boot: func(h *sim.Host) sim.Server {
			l := &listener{host: h}
			listeners = append(listeners, l)
			if members := h.Members(); h.Node().Name == members[0] {
				h.At(0, func() {
					h.Connect(members[1], listenerEnd{nil}, func(e *sim.End, _ error) { l.sendHeartbeats(e) })
				})
			}
			return l
		},
	})
}

func (l *listener) sendHeartbeats(e *sim.End) {
	e.Send(sim.Packet{Body: "here", Text: "here", Background: true})
	l.host.At(l.host.Now()+time.Second, func() { l.host.WhenRunning(func() { l.sendHeartbeats(e) }) })
}

// A listenerEnd is an end of the connection between two listeners. Its l is nil at the end
// that only sends.
type listenerEnd struct{ l *listener }

func (e listenerEnd) Receive(*sim.Request) {
	if e.l != nil {
		e.l.receivedAt = append(e.l.receivedAt, e.l.host.Now())
	}
}
func (e listenerEnd) HangUp(bool) {}

func (l *listener) Accept(*sim.End) sim.Endpoint { return listenerEnd{l} }
func (l *listener) Attend()                      { l.attendedAt = append(l.attendedAt, l.host.Now().Round(time.Second)) }
func (l *listener) ClockChanged()                {}
func (l *listener) Crash(trace.Crash)            {}
func (l *listener) Restart()                     {}
func (l *listener) Stop()                        {}

// playListeners runs a world with two listeners and a client that sleeps for ten seconds.
// It returns the trace and the second listener.
func playListeners(t *testing.T, faults ...sim.Fault) (*trace.Trace, *listener) {
	listeners = nil
	cfg := ToyWorld(Client(t, "client-1", func(context.Context, *sim.Program) error {
		SleepUntil(10 * time.Second)
		return nil
	}))
	cfg.Nodes = Nodes("listener", 2)
	tr := RunWorld(t, WithFaults(cfg, faults...))
	return tr, listeners[1]
}

// Background messages arrive, but the trace does not show them, and they do not prolong the
// run.
func TestBackgroundMessages(t *testing.T) {
	tr, second := playListeners(t)
	if n := len(second.receivedAt); n < 9 || n > 11 {
		t.Errorf("the second listener received %d messages in 10 s, want 9 to 11", n)
	}
	EqualTime(t, "the last event", tr.Events[len(tr.Events)-1].At, 10*time.Second)
	for _, ev := range tr.Events {
		if strings.Contains(ev.Text, "here") {
			t.Errorf("the trace shows the background message %+v", ev)
		}
	}
}

// A partition holds back background messages.
func TestPartitionActsOnBackgroundMessages(t *testing.T) {
	cut := &sim.Partition{Process: "listener-1", From: []string{"listener-2"}}
	_, second := playListeners(t, Lasting(4*time.Second, At(2500*time.Millisecond, cut)))
	silent := func(at time.Duration) bool { return at > 2500*time.Millisecond && at < 6500*time.Millisecond }
	if slices.ContainsFunc(second.receivedAt, silent) || second.receivedAt[len(second.receivedAt)-1] < 9*time.Second {
		t.Errorf("the second listener received messages at %v, want none from 2.5s to 6.5s, and some after that", second.receivedAt)
	}
}

// A fault that acts on a link between two nodes calls Attend at its beginning and at its
// end.
func TestAttend(t *testing.T) {
	for _, c := range []struct {
		fault sim.Action
		calls int // expected calls of Attend: one at the beginning and one at the end of the fault
	}{
		{PauseOf("listener-1"), 2},
		{&sim.Partition{Process: "listener-1", From: []string{"listener-2"}}, 2},
		{&sim.Delay{Process: "listener-1", To: "listener-2", By: time.Second}, 2},
		{CrashOf("listener-2", trace.Kill), 2},
		// A fault that strikes no link between two nodes does not call Attend.
		{PauseOf("client-1"), 0},
		{&sim.Partition{Process: "client-1", From: []string{"listener-2"}}, 0},
	} {
		_, second := playListeners(t, Lasting(4*time.Second, At(2*time.Second, c.fault)))
		slices.Sort(second.attendedAt)
		all := slices.Compact(second.attendedAt)
		if len(all) != c.calls || c.calls == 2 && (all[0] != 2*time.Second || all[1] != 6*time.Second) {
			t.Errorf("%T: Attend was called at %v, want %d calls, at 2s and at 6s if any", c.fault, all, c.calls)
		}
	}
}
