package history

import (
	"maps"
	"time"

	"github.com/locksim/locksim/trace"
)

// An Encounter is what a call of acquire met on the nodes of its lock while it went on.
type Encounter struct {
	// Ended is its end. A call that was successful, or never returned, is no encounter.
	Ended *trace.Event
	// Some: there were keys of others. Wrong: of somebody who was not entitled to have
	// them there: who was neither asking for the lock, nor held it, nor had crashed less
	// than a TTL before.
	Some, Wrong bool
}

// Encounters are those of the calls that failed, up to a moment, in order. releasing says
// whether somebody was then waiting for a release that had not returned.
func (h *History) Encounters(lock string, until Moment) (all []Encounter, releasing bool) {
	ttl := h.locks[lock].TTL
	asking := map[Acquisition]*Encounter{}
	inside, leaving := map[Acquisition]bool{}, map[Acquisition]bool{}
	crashed := map[string]time.Duration{} // when
	k, slots := NewKeys(), h.Slots(lock)
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
			leaving[id] = true
		case ev.Kind == trace.KindEnd && ev.Step == trace.Release:
			delete(inside, id)
			delete(leaving, id)
		}
		k.See(ev)
		var standing, wrong owners
		for _, p := range slots {
			key := k.At(p)
			if key == nil {
				continue
			}
			at, dead := crashed[key.Owner.Client]
			entitled := asking[key.Owner] != nil || inside[key.Owner] ||
				dead && key.Due != Forever && ev.At < min(key.Due, at+ttl)
			standing.add(key.Owner)
			if !entitled {
				wrong.add(key.Owner)
			}
		}
		for id, met := range asking {
			met.Some = met.Some || standing.others(id)
			met.Wrong = met.Wrong || wrong.others(id)
		}
	}
	return all, len(leaving) > 0
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
