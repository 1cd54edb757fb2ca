package checks

import (
	"fmt"
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// commands is a trace in which client-1 sends commands to nodes. now is the time of the
// next event.
type commands struct {
	trace.Trace
	now time.Duration
}

func newCommands() *commands {
	return &commands{Trace: trace.Trace{Processes: []trace.ProcessInfo{{Name: "client-1", Role: trace.RoleClient}}}}
}

func (t *commands) add(ev trace.Event) {
	ev.Seq, ev.At, ev.Process = len(t.Events)+1, t.now, "client-1"
	t.Events = append(t.Events, ev)
}

// sends adds n commands of one step, one in every interval. They go to the nodes in turn.
func (t *commands) sends(step trace.Step, n, nodes int, every time.Duration) {
	for i := range n {
		t.add(trace.Event{Kind: trace.KindSend, Peer: fmt.Sprintf("redis-%d", i%nodes+1), Step: step, Section: 1})
		t.now += every
	}
}

// misconductIn names the misconduct in a trace; the names of several properties are joined.
func misconductIn(t *trace.Trace) (all Property) {
	for _, f := range Check(history.New(t), nil).Findings {
		if f.Property.Card().Subject == SubjectMisconduct {
			all += f.Property
		}
	}
	return all
}

// A call may send 150 commands without a pause between them.
func TestEndlessRetry(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(*commands)
		want Property
	}{
		{"151 commands to five nodes without a pause", func(t *commands) { t.sends(trace.Acquire, 151, 5, 2*time.Millisecond) }, EndlessRetry},
		{"150 commands to five nodes without a pause", func(t *commands) { t.sends(trace.Acquire, 150, 5, 2*time.Millisecond) }, ""},
		{"300 commands with a pause after every ten", func(t *commands) {
			for range 30 {
				t.sends(trace.Acquire, 10, 5, 2*time.Millisecond)
				t.now += 6 * time.Millisecond
			}
		}, ""},
		{"two calls in a row, each with 100 commands", func(t *commands) {
			t.sends(trace.Acquire, 100, 5, 2*time.Millisecond)
			t.sends(trace.Extend, 100, 5, 2*time.Millisecond)
		}, ""},
		{"300 commands outside any call", func(t *commands) { t.sends("", 300, 5, time.Millisecond) }, ""},
	} {
		tr := newCommands()
		c.run(tr)
		if got := misconductIn(&tr.Trace); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Traffic that grows from section to section is misconduct, unless the client needs more
// attempts, or waits in an acquire while another client holds the lock.
func TestGrowingTraffic(t *testing.T) {
	// sections returns a trace of n sections. A section is one call of acquire that is
	// granted the lock, after some calls that are not. Each call sends some commands.
	sections := func(n int, calls, commandsPerCall func(i int) int) *commands {
		tr := newCommands()
		for i := range n {
			for range calls(i) {
				tr.add(trace.Event{Kind: trace.KindBegin, Step: trace.Acquire})
				tr.sends(trace.Acquire, commandsPerCall(i), 1, 2*minPause)
			}
			tr.add(trace.Event{Kind: trace.KindBegin, Step: trace.Release})
		}
		return tr
	}
	// waits returns a trace of 150 sections. While client-2 is in its section, client-1 asks
	// more and more often in one call, and sends some other commands after it.
	waits := func(others func(i int) int) *commands {
		tr := newCommands()
		tr.Processes = append(tr.Processes, trace.ProcessInfo{Name: "client-2", Role: trace.RoleClient})
		tr.Locks = []trace.LockInfo{{Name: "lock"}}
		addTo := func(client string, section int, kind trace.Kind, step trace.Step) {
			tr.add(trace.Event{Kind: kind, Step: step, Section: section, Lock: "lock", OK: kind == trace.KindEnd})
			tr.Events[len(tr.Events)-1].Process = client
			tr.now += minPause
		}
		for i := range 150 {
			addTo("client-2", i+1, trace.KindBegin, trace.Acquire)
			addTo("client-2", i+1, trace.KindEnd, trace.Acquire)
			addTo("client-1", i+1, trace.KindBegin, trace.Acquire)
			tr.sends(trace.Acquire, 2+i/10, 1, 2*minPause)
			addTo("client-2", i+1, trace.KindBegin, trace.Release)
			addTo("client-2", i+1, trace.KindEnd, trace.Release)
			tr.sends(trace.Acquire, 1, 1, 2*minPause)
			addTo("client-1", i+1, trace.KindEnd, trace.Acquire)
			addTo("client-1", i+1, trace.KindBegin, trace.Release)
			tr.sends(trace.Release, others(i), 1, 2*minPause)
			addTo("client-1", i+1, trace.KindEnd, trace.Release)
		}
		return tr
	}
	constant := func(n int) func(int) int { return func(int) int { return n } }
	for _, c := range []struct {
		name  string
		trace *commands
		want  Property
	}{
		{"more and more commands in an acquire that waits", waits(constant(1)), ""},
		{"more and more commands in an acquire that waits, and after it", waits(func(i int) int { return 1 + i/10 }), growingTraffic},
		{"150 sections with two commands each", sections(150, constant(1), constant(2)), ""},
		{"one more command for every ten sections", sections(150, constant(1), func(i int) int { return 2 + i/10 }), growingTraffic},
		{"one more command for every ten sections, in 99 sections", sections(99, constant(1), func(i int) int { return 2 + i/10 }), ""},
		{"more and more attempts with two commands each", sections(150, func(i int) int { return 1 + i/10 }, constant(2)), ""},
		{"fewer and fewer commands in the first sections", sections(150, constant(1), func(i int) int { return max(20-i, 2) }), ""},
	} {
		if got := misconductIn(&c.trace.Trace); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
