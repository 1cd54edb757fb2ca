package checks

import (
	"maps"
	"time"

	"github.com/locksim/locksim/trace"
)

// inEachOthersWay reports whether every attempt at a lock that failed since the
// last fault, and at least one did, met keys of others who were entitled to have
// them there, and none else: of clients that were asking for the lock, too, or
// held it, or had crashed less than a TTL before. That is nothing that the lock
// could help: when to ask again is the clients' choice. What an attempt has left
// behind that failed is the lock's doing.
func (c *calm) inEachOthersWay(lock string) bool {
	type meeting struct{ some, wrong bool }
	failed := false
	asking := map[acquisition]*meeting{}
	inside, releasing := map[acquisition]bool{}, map[acquisition]bool{}
	crashed := map[string]time.Duration{} // when
	k, s := newKeys(), c.slots(lock)
	for i := range c.trace.Events {
		ev := &c.trace.Events[i]
		if c.until.before(momentOf(ev)) {
			break
		}
		id := acquisition{ev.Process, ev.Section}
		switch {
		case ev.Kind == trace.KindCrash && c.isClient(ev.Process):
			crashed[ev.Process] = ev.At
			gone := func(id acquisition, _ bool) bool { return id.client == ev.Process }
			maps.DeleteFunc(asking, func(id acquisition, _ *meeting) bool { return gone(id, true) })
			maps.DeleteFunc(inside, gone)
			maps.DeleteFunc(releasing, gone)
		case ev.Kind == trace.KindPromote:
			s.promote(ev)
		case ev.Kind == trace.KindBegin && ev.Step == trace.Acquire && ev.Lock == lock:
			asking[id] = &meeting{}
		case ev.Kind == trace.KindEnd && ev.Step == trace.Acquire && ev.OK:
			inside[id] = true
			delete(asking, id)
		case ev.Kind == trace.KindEnd && ev.Step == trace.Acquire:
			met := asking[id]
			delete(asking, id)
			if met == nil || momentOf(ev).before(c.from) {
				break
			}
			if !met.some || met.wrong {
				return false
			}
			failed = true
		case ev.Kind == trace.KindBegin && ev.Step == trace.Release:
			releasing[id] = true
		case ev.Kind == trace.KindEnd && ev.Step == trace.Release:
			delete(inside, id)
			delete(releasing, id)
		}
		k.observe(ev)
		var standing, wrong owners
		for _, p := range s {
			key := k.standing[p]
			if key == nil {
				continue
			}
			at, dead := crashed[key.owner.client]
			entitled := asking[key.owner] != nil || inside[key.owner] ||
				dead && key.due != forever.at && ev.At < min(key.due, at+c.info[lock].TTL)
			standing.add(key.owner)
			if !entitled {
				wrong.add(key.owner)
			}
		}
		for id, met := range asking {
			met.some = met.some || standing.others(id)
			met.wrong = met.wrong || wrong.others(id)
		}
	}
	// Whoever waits for a release that never returns does so because of the lock.
	return failed && len(releasing) == 0
}

// owners are whose keys stand, as far as anybody must know to tell whether there are
// others than its own: one of them, and whether there is another.
type owners struct {
	one       acquisition
	some, two bool
}

func (o *owners) add(id acquisition) {
	if !o.some {
		o.one, o.some = id, true
	}
	o.two = o.two || id != o.one
}

// others reports whether there are others than id.
func (o *owners) others(id acquisition) bool { return o.two || o.some && o.one != id }
