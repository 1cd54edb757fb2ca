package checks

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A crowd is a trace in which far more happens at the same time than in any scenario.
// Client c1 makes all calls, and node A holds the keys.
type crowd struct{ trace.Trace }

// newCrowd returns a crowd without events, whose lock has this number of slots on node A.
func newCrowd(slots int) *crowd {
	l := trace.LockInfo{Name: "L", TTL: time.Hour, Quorum: 1}
	for i := range slots {
		l.Slots = append(l.Slots, trace.SlotInfo{Node: "A", Key: fmt.Sprint(i)})
	}
	return &crowd{trace.Trace{Name: "crowd", Locks: []trace.LockInfo{l}, Processes: []trace.ProcessInfo{
		{Name: "c1", Role: trace.RoleClient}, {Name: "A", Role: trace.RoleNode}, {Name: trace.StorageName, Role: trace.RoleStorage},
	}}}
}

// emit adds an event, a nanosecond after the event before.
func (c *crowd) emit(ev trace.Event) {
	ev.Seq = len(c.Events) + 1
	ev.At = time.Duration(ev.Seq)
	c.Events = append(c.Events, ev)
}

// calls begins a call of acquire.
func (c *crowd) calls(section int) {
	c.emit(trace.Event{Kind: trace.KindBegin, Process: "c1", Section: section, Step: trace.Acquire, Lock: "L"})
}

// acquires makes a call of acquire that is granted the lock. The grants are ranked by the
// sections' numbers.
func (c *crowd) acquires(section int) {
	c.calls(section)
	c.emit(trace.Event{
		Kind: trace.KindEnd, Process: "c1", Section: section, Step: trace.Acquire, Lock: "L", OK: true, Rank: uint64(section),
		LeaseEnd: &fakeclock.Reading{Clock: fakeclock.Wall, Nanos: int64(time.Hour)},
	})
}

// fails ends a call of acquire without a grant.
func (c *crowd) fails(section int) {
	c.emit(trace.Event{Kind: trace.KindEnd, Process: "c1", Section: section, Step: trace.Acquire})
}

// sets sets a key of the lock for a section.
func (c *crowd) sets(section, key int) {
	by := &trace.Actor{Client: "c1", Section: section}
	c.emit(trace.Event{Kind: trace.KindSet, Process: "A", Key: fmt.Sprint(key), Value: fmt.Sprint(section), TTL: time.Hour, By: by, Owner: by})
}

// mints gives a section a token that is smaller than the tokens of all earlier sections.
func (c *crowd) mints(section int) {
	c.emit(trace.Event{Kind: trace.KindEnd, Process: "c1", Section: section, Step: trace.Acquire, Minted: true, Token: uint64(1e6 - section)})
}

// replaces writes a new version over the initial version of an object.
func (c *crowd) replaces(section int) {
	c.emit(trace.Event{
		Kind: trace.KindServe, Process: trace.StorageName, Peer: "c1", Section: section, Step: trace.Write, OK: true,
		Object: "x", Version: section + 1, Value: fmt.Sprint(section),
	})
}

// overlappingSections returns a trace in which one client is in many sections at the same
// time. The lease of each section overlaps with all others.
func overlappingSections(sections int) *trace.Trace {
	c := newCrowd(1)
	for i := range sections {
		c.acquires(i + 1)
	}
	return &c.Trace
}

// Judging a crowd takes seconds and not minutes, because no check reads the whole trace for
// each pair of sections, or lists all pairs. BenchmarkManySections measures it.
func TestCrowds(t *testing.T) {
	const n = 3000
	for _, test := range []struct {
		name     string
		happens  func(c *crowd)
		violated []Property
	}{
		{"many sections at once", func(c *crowd) {
			for i := range n {
				c.acquires(i + 1)
			}
		}, []Property{LeaseExclusion, SectionExclusion, Progress}},
		{"tokens that shrink", func(c *crowd) {
			for i := range n {
				c.acquires(i + 1)
			}
			for i := range n {
				c.mints(i + 1)
			}
		}, []Property{LeaseExclusion, SectionExclusion, TokenOrder, Progress}},
		{"many sections replace the same version", func(c *crowd) {
			for i := range n {
				c.acquires(i + 1)
			}
			for i := range n {
				c.replaces(i + 1)
			}
		}, []Property{LeaseExclusion, SectionExclusion, GrantOrder, SerialSections, Progress}},
		{"many calls fail and meet many keys", func(c *crowd) {
			for i := range n {
				c.calls(i + 1)
			}
			for i := range n {
				c.sets(i+1, i)
			}
			for i := range n {
				c.fails(i + 1)
			}
		}, []Property{Progress}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCrowd(n)
			test.happens(c)
			if err := c.Validate(); err != nil {
				t.Fatal(err)
			}
			var violated []Property
			for _, f := range Check(history.New(&c.Trace), nil).Findings {
				if f.Outcome == Violated {
					violated = append(violated, f.Property)
				}
			}
			if !slices.Equal(violated, test.violated) {
				t.Errorf("the crowd violates %v, want %v", violated, test.violated)
			}
		})
	}
}

// With ten times as many sections at the same time, judging may take a hundred times as
// long, but not a thousand times.
func BenchmarkManySections(b *testing.B) {
	for _, n := range []int{300, 1000, 3000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			t := overlappingSections(n)
			b.ReportAllocs()
			for b.Loop() {
				Check(history.New(t), nil)
			}
		})
	}
}
