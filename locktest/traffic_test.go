package locktest

import (
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// traffic is a trace in which client-1 sends commands.
type traffic struct {
	trace.Trace
	now time.Duration
}

func newTraffic() *traffic {
	return &traffic{Trace: trace.Trace{Processes: []trace.ProcessInfo{{Name: "client-1", Role: trace.RoleClient}}}}
}

func (t *traffic) add(ev trace.Event) {
	ev.Seq, ev.At, ev.Process = len(t.Events)+1, t.now, "client-1"
	t.Events = append(t.Events, ev)
}

// sends sends commands for a step to some nodes in turn, one in every interval.
func (t *traffic) sends(step trace.Step, n, nodes int, every time.Duration) {
	for i := range n {
		t.add(trace.Event{Kind: trace.KindSend, Peer: Config{System: "redis"}.node(i % nodes), Step: step, Section: 1})
		t.now += every
	}
}

func TestBreathless(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(*traffic)
		want string
	}{
		{"five nodes without a pause", func(t *traffic) { t.sends(trace.Acquire, 151, 5, 2*time.Millisecond) }, ruleEndless},
		{"as many as are allowed", func(t *traffic) { t.sends(trace.Acquire, 150, 5, 2*time.Millisecond) }, ""},
		{"a pause after every ten", func(t *traffic) {
			for range 30 {
				t.sends(trace.Acquire, 10, 5, 2*time.Millisecond)
				t.now += 6 * time.Millisecond
			}
		}, ""},
		{"two calls in a row", func(t *traffic) {
			t.sends(trace.Acquire, 100, 5, 2*time.Millisecond)
			t.sends(trace.Extend, 100, 5, 2*time.Millisecond)
		}, ""},
		{"what belongs to no call", func(t *traffic) { t.sends("", 300, 5, time.Millisecond) }, ""},
	} {
		tr := newTraffic()
		c.run(tr)
		if rule, why, _ := breathless(nil, world{}, history.Of(&tr.Trace)); rule != c.want {
			t.Errorf("%s: got %q (%s), want %q", c.name, rule, why, c.want)
		}
	}
}

func TestGrowing(t *testing.T) {
	// A section is one call of acquire that gets the lock, after some that do not,
	// and each call costs some commands.
	sections := func(n int, calls, cost func(i int) int) *traffic {
		tr := newTraffic()
		for i := range n {
			for range calls(i) {
				tr.add(trace.Event{Kind: trace.KindBegin, Step: trace.Acquire})
				tr.sends(trace.Acquire, cost(i), 1, time.Millisecond)
			}
			tr.add(trace.Event{Kind: trace.KindBegin, Step: trace.Release})
		}
		return tr
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
		if rule, why, _ := growing(nil, world{}, history.Of(&c.trace.Trace)); rule != c.want {
			t.Errorf("%s: got %q (%s), want %q", c.name, rule, why, c.want)
		}
	}
}
