package locktest

import (
	"testing"
	"time"

	"github.com/locksim/locksim/sim"
)

// traffic is a trace in which client-1 sends commands.
type traffic struct {
	sim.Trace
	now time.Duration
}

func newTraffic() *traffic {
	return &traffic{Trace: sim.Trace{Processes: []sim.ProcessInfo{{Name: "client-1", Role: sim.RoleClient}}}}
}

func (t *traffic) add(ev sim.Event) {
	ev.Seq, ev.At, ev.Process = len(t.Events)+1, t.now, "client-1"
	t.Events = append(t.Events, ev)
}

// sends sends commands for a step to some nodes in turn, one in every interval.
func (t *traffic) sends(step sim.Step, n, nodes int, every time.Duration) {
	for i := range n {
		t.add(sim.Event{Kind: sim.KindSend, Peer: node(i % nodes), Step: step, Section: 1})
		t.now += every
	}
}

func TestBreathless(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(*traffic)
		want string
	}{
		{"five nodes without a pause", func(t *traffic) { t.sends(sim.Acquire, 151, 5, 2*time.Millisecond) }, ruleEndless},
		{"as many as are allowed", func(t *traffic) { t.sends(sim.Acquire, 150, 5, 2*time.Millisecond) }, ""},
		{"a pause after every ten", func(t *traffic) {
			for range 30 {
				t.sends(sim.Acquire, 10, 5, 2*time.Millisecond)
				t.now += 6 * time.Millisecond
			}
		}, ""},
		{"two calls in a row", func(t *traffic) {
			t.sends(sim.Acquire, 100, 5, 2*time.Millisecond)
			t.sends(sim.Extend, 100, 5, 2*time.Millisecond)
		}, ""},
		{"what belongs to no call", func(t *traffic) { t.sends("", 300, 5, time.Millisecond) }, ""},
	} {
		trace := newTraffic()
		c.run(trace)
		if rule, why, _ := breathless(nil, world{}, &trace.Trace); rule != c.want {
			t.Errorf("%s: got %q (%s), want %q", c.name, rule, why, c.want)
		}
	}
}

func TestGrowing(t *testing.T) {
	// A section is one call of acquire that gets the lock, after some that do not,
	// and each call costs some commands.
	sections := func(n int, calls, cost func(i int) int) *traffic {
		trace := newTraffic()
		for i := range n {
			for range calls(i) {
				trace.add(sim.Event{Kind: sim.KindBegin, Step: sim.Acquire})
				trace.sends(sim.Acquire, cost(i), 1, time.Millisecond)
			}
			trace.add(sim.Event{Kind: sim.KindBegin, Step: sim.Release})
		}
		return trace
	}
	always := func(n int) func(int) int { return func(int) int { return n } }
	for _, c := range []struct {
		name  string
		trace *traffic
		want  string
	}{
		{"always the same", sections(150, always(1), always(2)), ""},
		{"one more command for every ten sections", sections(150, always(1), func(i int) int { return 2 + i/10 }), ruleGrowing},
		{"the same, in too few sections", sections(99, always(1), func(i int) int { return 2 + i/10 }), ""},
		{"more attempts, at the same price", sections(150, func(i int) int { return 1 + i/10 }, always(2)), ""},
		{"dearer at first", sections(150, always(1), func(i int) int { return max(20-i, 2) }), ""},
	} {
		if rule, why, _ := growing(nil, world{}, &c.trace.Trace); rule != c.want {
			t.Errorf("%s: got %q (%s), want %q", c.name, rule, why, c.want)
		}
	}
}
