// Package history reads a trace once and answers all questions about it.
//
// The package has two layers. Readers see one event after the other and know only the past:
// a world, which is one simulation, uses them while it runs. [Keys] and [Slots] follow
// where the locks keep their grants, [Clocks] the clocks, [Processes] which processes run,
// and [Faults] which faults act. The [Oracle] numbers the grants as a perfect lock service
// would. A [Recogniser] recognises when a point, such as "client-1 acquired", is reached.
//
// A [History] runs the same readers over a whole trace, and adds hindsight. If a key was lost in a
// crash, it counts as lost from the crash on, although the loss showed only later. The end of a
// lease depends on whether the lock later notified of its loss. A History consists of chapters.
// Each chapter is computed once, when it is first asked for.
//
// A lease begins when acquire returns. It ends at the time that the lock itself declared.
// The lock declares a time of its client's clock, and this package converts it to true
// time, the time of the simulation. If the lock declares no end, the lease lasts one TTL
// from the call of acquire or extend, and for ever if there is no TTL.
//
// Some locks renew the lease by themselves and promise to notify their client of its loss. If such
// a lock declares no end, its lease ends one TTL after the keys of the grant were last set or
// renewed on a quorum of nodes. The loss signal, a release or a crash ends the lease earlier. A
// successful extend continues the same lease, without a gap. A lock that notifies must send its
// signal before the lease ends.
//
// A critical section runs from "acquire returned" until release is called, or the client crashes or
// abandons it. Each section belongs to one handle on the lock, which is one lock object in
// the client's program.
//
// Intervals are half-open and compared in whole nanoseconds of true time. Where two events
// share a nanosecond, their order in the trace decides.
package history

import (
	"fmt"
	"slices"
	"sync"

	"github.com/locksim/locksim/trace"
)

// A History answers questions about a trace. Several goroutines may use it at the same
// time. Callers must not modify what it returns.
type History struct {
	Trace *trace.Trace

	locks map[string]trace.LockInfo
	// processOrder maps each process to its index in the trace's list of processes.
	processOrder map[string]int
	clocks       *Clocks
	faults       *Faults
	quiet        []Interval // the intervals in which no fault acted
	// nonMessages are the events other than those with which a message is sent or arrives.
	// Most events are of messages, and most chapters do not need them.
	nonMessages []*trace.Event
	// ranOn says when each process first did something although it was paused.
	ranOn map[string]Moment
	// lost are the acquisitions whose clients were notified that the lease is lost.
	lost map[Acquisition]bool
	// horizon is the event with which the run was cut off; nil if it was not.
	horizon *trace.Event
	// processEnds are the events with which the processes ended.
	processEnds map[string]*trace.Event

	// The chapters.
	slots            chapter[*slotRecord]       // the keys on nodes in which the locks keep their grants
	reading          chapter[*reading]          // the sections, and what clients did to the storage
	calls            chapter[*callList]         // the calls of the locks
	spells           chapter[[]*Spell]          // the intervals in which a process did not run
	messages         chapter[[]*Message]        // the messages
	keys             chapter[*keyRecord]        // the keys, and which acquisition each belonged to
	losses           chapter[map[string][]Loss] // the keys that nodes lost, by lock
	occasions        chapter[[]*Occasion]       // the moments at which a fault could strike
	connectionEvents chapter[[]ConnectionEvent] // which connections were made, refused and ended
	eventsByKind     chapter[map[trace.Kind][]*trace.Event]
}

// A chapter holds a value that is computed when it is first asked for.
type chapter[T any] struct {
	once  sync.Once
	value T
}

func (c *chapter[T]) get(read func() T) T {
	c.once.Do(func() { c.value = read() })
	return c.value
}

// New returns the history of a trace, which must be complete and valid: see
// [trace.Trace.Validate].
func New(t *trace.Trace) *History {
	h := &History{
		Trace:        t,
		locks:        map[string]trace.LockInfo{},
		processOrder: make(map[string]int, len(t.Processes)),
		clocks:       NewClocks(),
		faults:       NewFaults(),
		quiet:        []Interval{{StartOf(0), Never}},
		ranOn:        map[string]Moment{},
		lost:         map[Acquisition]bool{},
		processEnds:  map[string]*trace.Event{},
		nonMessages:  make([]*trace.Event, 0, len(t.Events)/2),
	}
	for _, l := range t.Locks {
		h.locks[l.Name] = l
	}
	for i, p := range slices.Backward(t.Processes) { // of two processes with the same name, the first counts
		h.processOrder[p.Name] = i
	}
	for i := range t.Events {
		ev := &t.Events[i]
		if ev.Kind == trace.KindSend || ev.Kind == trace.KindDeliver {
			continue
		}
		h.nonMessages = append(h.nonMessages, ev)
		switch ev.Kind {
		case trace.KindLost: // the end of a lease depends on whether it is lost later, so losses are collected first
			h.lost[Acquisition{ev.Process, ev.Section}] = true
		case trace.KindClock:
			h.clocks.See(ev)
		case trace.KindStrike, trace.KindLift:
			h.seeFault(ev)
		case trace.KindStall:
			h.faults.See(ev)
		case trace.KindRanOn:
			if _, known := h.ranOn[ev.Process]; !known {
				h.ranOn[ev.Process] = MomentOf(ev)
			}
		case trace.KindCrash, trace.KindDone:
			if h.processEnds[ev.Process] == nil {
				h.processEnds[ev.Process] = ev
			}
		case trace.KindHorizon:
			h.horizon = ev
		}
	}
	return h
}

// An Acquisition is one call of acquire by one client, and everything that follows from it.
// Section 0 is everything that a client does outside its sections.
type Acquisition struct {
	Client  string
	Section int
}

// String returns the acquisition as "client-1 (section 2)", with the number that the trace
// has. [History.Name] numbers sections for readers.
func (a Acquisition) String() string { return fmt.Sprintf("%s (section %d)", a.Client, a.Section) }

// AcquisitionOf returns the acquisition of an actor; zero if the actor is nil.
func AcquisitionOf(a *trace.Actor) Acquisition {
	if a == nil {
		return Acquisition{}
	}
	return Acquisition{a.Client, a.Section}
}

// Event returns the event with the given Seq, which is its number in the trace, from 1; nil if
// there is none.
func (h *History) Event(seq int) *trace.Event {
	if seq < 1 || seq > len(h.Trace.Events) {
		return nil
	}
	return &h.Trace.Events[seq-1]
}

// EventCount returns the number of events.
func (h *History) EventCount() int { return len(h.Trace.Events) }

// Last returns the last event; nil if there is none.
func (h *History) Last() *trace.Event { return h.Event(len(h.Trace.Events)) }

// Horizon returns the event with which the run was cut off; nil if it was not.
func (h *History) Horizon() *trace.Event { return h.horizon }

// LastUntil returns the last event that happened before a moment or at it; nil if there is none.
func (h *History) LastUntil(m Moment) *trace.Event {
	n, _ := slices.BinarySearchFunc(h.Trace.Events, m, func(ev trace.Event, m Moment) int {
		if m.Before(MomentOf(&ev)) {
			return 1
		}
		return -1
	})
	return h.Event(n)
}

// Lock returns the trace's description of a lock; zero if there is no such lock.
func (h *History) Lock(name string) trace.LockInfo { return h.locks[name] }

// Clocks returns the clocks of all processes.
func (h *History) Clocks() *Clocks { return h.clocks }

// RanOn returns when a process first did something although it was paused; found is false
// if it never did. A pause cannot stop code that does not use the simulated clock.
func (h *History) RanOn(process string) (since Moment, found bool) {
	since, found = h.ranOn[process]
	return since, found
}

// AnyRanOn reports whether any process did something although it was paused.
func (h *History) AnyRanOn() bool { return len(h.ranOn) > 0 }

// NoExclusion reports whether every lock of the run is granted to every client.
func (h *History) NoExclusion() bool {
	return !slices.ContainsFunc(h.Trace.Locks, func(l trace.LockInfo) bool { return !l.GrantsEveryone })
}
