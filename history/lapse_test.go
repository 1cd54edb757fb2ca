package history

import (
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// traceEverySecond returns a trace of events that happen one second apart. At first its
// clocks show true time.
func traceEverySecond(events ...trace.Event) *trace.Trace {
	t := &trace.Trace{
		Locks:     []trace.LockInfo{{Name: "x", TTL: 30 * time.Second, Quorum: 1, Slots: []trace.SlotInfo{{Node: "redis-1", Key: "x"}}}},
		Processes: []trace.ProcessInfo{{Name: "client-1", Role: trace.RoleClient}, {Name: "redis-1", Role: trace.RoleNode}},
	}
	for i, ev := range events {
		ev.Seq, ev.At = i+1, time.Duration(i+1)*time.Second
		t.Events = append(t.Events, ev)
	}
	return t
}

// A lease expires at its last declared end, unless the client had released it or had been
// notified of its loss before. If it is renewed after that, it is still the same lease.
func TestLapses(t *testing.T) {
	step := func(kind trace.Kind, step trace.Step, leaseEnd time.Duration) trace.Event {
		ev := trace.Event{Kind: kind, Process: "client-1", Section: 1, Step: step, Lock: "x", OK: true}
		if leaseEnd > 0 {
			ev.LeaseEnd = &fakeclock.Reading{Clock: fakeclock.Wall, Nanos: int64(leaseEnd)}
		}
		return ev
	}
	// acquired and extended declare an end of the lease, in seconds since the start of the
	// trace; 0 declares none.
	acquired := func(seconds time.Duration) trace.Event {
		return step(trace.KindEnd, trace.Acquire, seconds*time.Second)
	}
	extended := func(seconds time.Duration) trace.Event {
		return step(trace.KindEnd, trace.Extend, seconds*time.Second)
	}
	release := step(trace.KindBegin, trace.Release, 0)
	wait := trace.Event{Kind: trace.KindHorizon} // only lets a second pass: nothing happens to the lease
	jump := trace.Event{Kind: trace.KindClock, Process: "client-1", Clocks: &trace.Clocks{Wall: 60e9, Why: trace.Jumped}}
	type lapse struct {
		at        int // in seconds
		renewedBy int // the event that renewed the lease, or 0
	}
	for name, c := range map[string]struct {
		events []trace.Event
		want   []lapse
	}{
		"the lease expires":                                                                   {[]trace.Event{acquired(3), wait, wait}, []lapse{{3, 0}}},
		"the client releases before the end":                                                  {[]trace.Event{acquired(3), release}, nil},
		"the client releases after the end":                                                   {[]trace.Event{acquired(2), wait, release}, []lapse{{2, 0}}},
		"the client is notified before the end":                                               {[]trace.Event{acquired(3), {Kind: trace.KindLost, Process: "client-1", Section: 1}, wait}, nil},
		"the client crashes before the end":                                                   {[]trace.Event{acquired(3), {Kind: trace.KindCrash, Process: "client-1"}, wait}, nil},
		"the client's program ends before the lease does":                                     {[]trace.Event{acquired(3), {Kind: trace.KindDone, Process: "client-1"}, wait}, nil},
		"the lease is extended before the end":                                                {[]trace.Event{acquired(3), extended(5), wait, wait, wait}, []lapse{{5, 0}}},
		"the lease is extended after the end":                                                 {[]trace.Event{acquired(2), wait, extended(6), wait, release}, []lapse{{2, 3}}},
		"the lease is extended after the end, and the new end is the moment of the extension": {[]trace.Event{acquired(2), wait, extended(3), wait}, []lapse{{2, 3}, {3, 0}}},
		"the lease is extended after the end, to an end in the past":                          {[]trace.Event{acquired(2), wait, extended(2), wait}, []lapse{{2, 0}}},
		"the second of two extensions after the end is valid":                                 {[]trace.Event{acquired(2), wait, extended(2), extended(6), release}, []lapse{{2, 4}}},
		"the lease had ended when it was granted":                                             {[]trace.Event{wait, wait, acquired(2), wait}, nil},
		"the clock is set past the end":                                                       {[]trace.Event{acquired(30), jump, wait}, []lapse{{2, 0}}},
		"a lease without a declared end lasts a TTL":                                          {[]trace.Event{acquired(0)}, []lapse{{31, 0}}},
		"a lock that notifies has no lapse without a notification":                            {[]trace.Event{{Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Acquire, Lock: "x", OK: true, Notifies: true}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			events := append(slices.Clone(c.events), wait)
			var got []lapse
			for _, l := range New(traceEverySecond(events...)).Sections()[0].Lapses() {
				found := lapse{at: int(l.At.At / time.Second)}
				if l.RenewedBy != nil {
					found.renewedBy = l.RenewedBy.Event.Seq
				}
				got = append(got, found)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("the lapses are %v, want %v", got, c.want)
			}
		})
	}
}

// The foreseen end of a lease does not depend on later changes of the clock. StartOf is the
// moment at the beginning of a nanosecond.
func TestForeseenEndOfALease(t *testing.T) {
	h := New(traceEverySecond(
		trace.Event{Kind: trace.KindClock, Process: "client-1", Clocks: &trace.Clocks{Wall: 1e9}},
		trace.Event{Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Acquire, Lock: "x", OK: true,
			LeaseEnd: &fakeclock.Reading{Clock: fakeclock.Wall, Nanos: 30e9}},
		trace.Event{Kind: trace.KindClock, Process: "client-1", Clocks: &trace.Clocks{Wall: 60e9, Why: trace.Jumped}},
	))
	d := h.Sections()[0].Lease.Declarations[0]
	if d.Foreseen != StartOf(30*time.Second) || d.Until.At != 3*time.Second {
		t.Errorf("the end was foreseen at %v and came at %v; want 30s and 3s", d.Foreseen, d.Until)
	}
}
