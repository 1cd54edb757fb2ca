package history

import (
	"maps"
	"slices"
	"time"

	"github.com/locksim/locksim/trace"
)

// An Encounter is what a call of acquire met on the nodes of its lock while it went on.
type Encounter struct {
	// Ended is its end. A call that was successful, or never returned, is no encounter.
	Ended *trace.Event
	// Some: there were keys of others. Wrong: of somebody who was not entitled to have
	// them there: who was neither asking for the lock, nor held it, nor had left them less
	// than a TTL before because it crashed, or was hindered by a fault ([History.hindered]).
	Some, Wrong bool
}

// A Crowd is who stood in whose way, up to a moment.
type Crowd struct {
	// Met are the encounters of the calls that failed, in order.
	Met []Encounter
	// Releasing: somebody whom no fault hinders was then waiting for a release that had not
	// returned.
	Releasing bool
	// Held: nobody could have got the lock then, because of keys of those who held it and
	// were at work, or were entitled to have left them.
	Held bool
}

// Crowd is who stood in whose way at a lock, up to a moment.
func (h *History) Crowd(lock string, until Moment) Crowd {
	var all []Encounter
	ttl := h.locks[lock].TTL
	hindered := map[string]bool{}
	for _, p := range h.Trace.Processes {
		hindered[p.Name] = h.hindered(p.Name)
	}
	asking := map[Acquisition]*Encounter{}
	inside, leaving := map[Acquisition]bool{}, map[Acquisition]bool{}
	crashed := map[string]time.Duration{} // when
	k, slots := NewKeys(), h.Slots(lock)
	// left says that the owner of a key was entitled to leave it.
	left := func(key *Holding, ev *trace.Event) bool {
		at, since := crashed[key.Owner.Client]
		if !since && hindered[key.Owner.Client] {
			at, since = key.Set.At, true
		}
		return since && key.Due != Forever && ev.At < min(key.Due, at+ttl)
	}
	var last *trace.Event
	for i := range h.Trace.Events {
		ev := &h.Trace.Events[i]
		if until.Before(MomentOf(ev)) {
			break
		}
		id := Acquisition{ev.Process, ev.Section}
		switch {
		case ev.Kind == trace.KindCrash && h.IsClient(ev.Process):
			crashed[ev.Process] = ev.At
			gone := func(id Acquisition, _ bool) bool { return id.Client == ev.Process }
			maps.DeleteFunc(asking, func(id Acquisition, _ *Encounter) bool { return gone(id, true) })
			maps.DeleteFunc(inside, gone)
			maps.DeleteFunc(leaving, gone)
		case ev.Kind == trace.KindPromote:
			slots.See(ev)
		case ev.Kind == trace.KindBegin && ev.Step == trace.Acquire && ev.Lock == lock:
			asking[id] = &Encounter{}
		case ev.Kind == trace.KindEnd && ev.Step == trace.Acquire && ev.OK:
			inside[id] = true
			delete(asking, id)
		case ev.Kind == trace.KindEnd && ev.Step == trace.Acquire:
			if met := asking[id]; met != nil {
				met.Ended = ev
				all = append(all, *met)
				delete(asking, id)
			}
		case ev.Kind == trace.KindBegin && ev.Step == trace.Release:
			leaving[id] = !hindered[ev.Process]
		case ev.Kind == trace.KindEnd && ev.Step == trace.Release:
			delete(inside, id)
			delete(leaving, id)
		}
		k.See(ev)
		last = ev
		var standing, wrong owners
		for _, p := range slots {
			key := k.At(p)
			if key == nil {
				continue
			}
			standing.add(key.Owner)
			if asking[key.Owner] == nil && !inside[key.Owner] && !left(key, ev) {
				wrong.add(key.Owner)
			}
		}
		for id, met := range asking {
			met.Some = met.Some || standing.others(id)
			met.Wrong = met.Wrong || wrong.others(id)
		}
	}
	withheld := 0
	for _, p := range slots {
		if key := k.At(p); key != nil && (left(key, last) || inside[key.Owner] && h.works(key.Owner, MomentOf(last))) {
			withheld++
		}
	}
	releasing := slices.Contains(slices.Collect(maps.Values(leaving)), true)
	return Crowd{all, releasing, withheld > 0 && len(slots)-withheld < h.locks[lock].Quorum}
}

// works says whether an acquisition had a section and a lease at a moment, and did not
// wait for its lock.
func (h *History) works(id Acquisition, m Moment) bool {
	s := h.Section(id)
	return s != nil && m.Before(s.To) && m.Before(s.Lease.End()) && !slices.ContainsFunc(h.CallsOf(id), func(c *Call) bool {
		return c.Step.AtLock() && c.Began != nil && !m.Before(MomentOf(c.Began)) && (c.Ended == nil || m.Before(MomentOf(c.Ended)))
	})
}

// owners are whose keys stand, as far as anybody must know to tell whether there are
// others than its own: one of them, and whether there is another.
type owners struct {
	one       Acquisition
	some, two bool
}

func (o *owners) add(id Acquisition) {
	if !o.some {
		o.one, o.some = id, true
	}
	o.two = o.two || id != o.one
}

// others reports whether there are others than id.
func (o *owners) others(id Acquisition) bool { return o.two || o.some && o.one != id }
