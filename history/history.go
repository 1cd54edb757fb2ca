// Package history reads what a trace says, once, for everybody.
//
// It has two layers. Readers ([Keys], [Slots], [Clocks], [Processes], [Faults],
// [Oracle], [Recogniser]) see one event after the other and know only the past: a world
// uses them while it runs. A [History] is the fold of the same readers over a whole
// trace, and adds hindsight: what a crash destroyed is dated back to the crash, and a
// lease looks ahead to its loss. Its chapters are read when somebody first asks for
// them, and once.
//
// The words are these. A lease runs from "acquire returned" to the end that the
// lock itself declared, on the client's own clock and mapped to true time. If the
// lock declares none, it lasts one TTL from the call of acquire or extend, and
// without a TTL for ever; that of a lock which prolongs it by itself, and is to tell
// of its loss, lasts until its keys have stood on a quorum for their TTL since they
// were last set or prolonged. Its loss signal, releasing or crashing ends it; a
// successful extend prolongs the same lease from its beginning, without a gap. By the
// end of a lease its lock owes the signal, if it is one that tells.
// A section runs from "acquire returned" to release called, crash, or
// abandoned. Each belongs to one handle on the lock.
//
// Intervals are half-open and compared in whole nanoseconds of true time; where
// two events share a nanosecond, their order in the trace decides.
package history

import (
	"fmt"
	"slices"
	"sync"

	"github.com/locksim/locksim/trace"
)

// A History is what a trace says. It may be asked by several goroutines at once; what
// it answers with is not to be changed.
type History struct {
	Trace *trace.Trace

	locks map[string]trace.LockInfo
	// places are those of the processes in the order of the world.
	places map[string]int
	clocks *Clocks
	faults *Faults
	quiet  []Interval // in which no fault acted
	// apart are the events apart from those with which a message is sent or arrives: most are
	// such, and most chapters are about the others.
	apart []*trace.Event
	// ranOn is when each process first ran on while it was paused.
	ranOn map[string]Moment
	// lost are the acquisitions that were told that their lease is lost.
	lost    map[Acquisition]bool
	horizon *trace.Event
	// fates are the events with which the processes ended.
	fates map[string]*trace.Event

	slots    chapter[*slotRecord]
	reading  chapter[*reading]
	calls    chapter[*callList]
	spells   chapter[[]*Spell]
	messages chapter[[]*Message]
	keys     chapter[*keyRecord]
	losses   chapter[map[string][]Loss]
	survey   chapter[[]*Occasion]
	contacts chapter[[]Contact]
}

// A chapter is read when it is first asked for.
type chapter[T any] struct {
	once sync.Once
	told T
}

func (c *chapter[T]) of(read func() T) T {
	c.once.Do(func() { c.told = read() })
	return c.told
}

// Of reads a trace, which has to be whole and valid: see [trace.Trace.Validate].
func Of(t *trace.Trace) *History {
	h := &History{
		Trace:  t,
		locks:  map[string]trace.LockInfo{},
		places: make(map[string]int, len(t.Processes)),
		clocks: NewClocks(),
		faults: NewFaults(),
		quiet:  []Interval{{StartOf(0), Never}},
		ranOn:  map[string]Moment{},
		lost:   map[Acquisition]bool{},
		fates:  map[string]*trace.Event{},
		apart:  make([]*trace.Event, 0, len(t.Events)/2),
	}
	for _, l := range t.Locks {
		h.locks[l.Name] = l
	}
	for i, p := range slices.Backward(t.Processes) { // of two that are one the first counts
		h.places[p.Name] = i
	}
	for i := range t.Events {
		ev := &t.Events[i]
		if ev.Kind == trace.KindSend || ev.Kind == trace.KindDeliver {
			continue
		}
		h.apart = append(h.apart, ev)
		switch ev.Kind {
		case trace.KindLost: // leases look ahead, so these come first
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
			if h.fates[ev.Process] == nil {
				h.fates[ev.Process] = ev
			}
		case trace.KindHorizon:
			h.horizon = ev
		}
	}
	return h
}

// An Acquisition is one call of acquire by one client, and all that follows from it.
// Section 0 is what the client does outside any.
type Acquisition struct {
	Client  string
	Section int
}

func (a Acquisition) String() string { return fmt.Sprintf("%s (section %d)", a.Client, a.Section) }

// AcquisitionOf is the acquisition that acted; zero for nobody.
func AcquisitionOf(a *trace.Actor) Acquisition {
	if a == nil {
		return Acquisition{}
	}
	return Acquisition{a.Client, a.Section}
}

// Event is the event with a Seq, from 1; nil if there is none.
func (h *History) Event(seq int) *trace.Event {
	if seq < 1 || seq > len(h.Trace.Events) {
		return nil
	}
	return &h.Trace.Events[seq-1]
}

// Length is how many events there were.
func (h *History) Length() int { return len(h.Trace.Events) }

// Last is the last event; nil if there is none.
func (h *History) Last() *trace.Event { return h.Event(len(h.Trace.Events)) }

// Horizon is the event with which the run was cut off; nil if it came to its end.
func (h *History) Horizon() *trace.Event { return h.horizon }

// LastBefore is the last event that does not come after a moment; nil if there is none.
func (h *History) LastBefore(m Moment) *trace.Event {
	n, _ := slices.BinarySearchFunc(h.Trace.Events, m, func(ev trace.Event, m Moment) int {
		if m.Before(MomentOf(&ev)) {
			return 1
		}
		return -1
	})
	return h.Event(n)
}

// Lock is what is known of a lock before the run; zero for one that is not known.
func (h *History) Lock(name string) trace.LockInfo { return h.locks[name] }

// Clocks are the clocks of all processes.
func (h *History) Clocks() *Clocks { return h.clocks }

// RanOn is when a process first did something while it was paused, as code that is not
// written on the simulated clock can.
func (h *History) RanOn(process string) (since Moment, ever bool) {
	since, ever = h.ranOn[process]
	return since, ever
}

// AnyRanOn says whether any process did.
func (h *History) AnyRanOn() bool { return len(h.ranOn) > 0 }

// NobodyExcluded reports that each lock lets everybody in.
func (h *History) NobodyExcluded() bool {
	return !slices.ContainsFunc(h.Trace.Locks, func(l trace.LockInfo) bool { return !l.Open })
}
