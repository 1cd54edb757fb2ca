package history

import (
	"maps"
	"slices"
	"time"

	"github.com/locksim/locksim/trace"
)

// A FailedAcquire is a call of acquire that failed. It says which keys were on the nodes of
// the lock during the call.
type FailedAcquire struct {
	// Ended is the end of the call.
	Ended *trace.Event
	// MetOtherKeys says that other clients had keys on the lock's nodes during the call.
	// MetLeftoverKeys says that a client had keys there to which it was not entitled. A client is
	// entitled to its keys while it asks for the lock or holds it. A client that crashed is
	// entitled to leave them for less than a TTL after the crash. If a fault hinders the client
	// ([History.isHindered]), the TTL counts from when it set the key.
	MetOtherKeys, MetLeftoverKeys bool
}

// Contention describes how clients prevented each other from acquiring a lock, up to a moment
// that the caller chooses.
type Contention struct {
	// FailedAcquires are the calls of acquire that failed, in order.
	FailedAcquires []FailedAcquire
	// AwaitsRelease says that at that moment a client that no fault hindered waited in a call of
	// release.
	AwaitsRelease bool
	// Unavailable says that no client could be granted the lock at that moment, because of
	// other clients' keys. These clients were working under the lock, or were entitled to leave
	// their keys.
	Unavailable bool
}

// Contention returns the contention for a lock, up to a moment.
func (h *History) Contention(lock string, until Moment) Contention {
	var all []FailedAcquire
	ttl := h.locks[lock].TTL
	hindered := map[string]bool{}
	for _, p := range h.Trace.Processes {
		hindered[p.Name] = h.isHindered(p.Name)
	}
	asking := map[Acquisition]*FailedAcquire{}
	inSection, inRelease := map[Acquisition]bool{}, map[Acquisition]bool{}
	crashed := map[string]time.Duration{} // when each client crashed
	k, slots := NewKeys(), h.Slots(lock)
	// mayLeave reports whether the owner of a key was entitled to leave it on the node.
	mayLeave := func(key *Holding, ev *trace.Event) bool {
		stoppedAt, hasStopped := crashed[key.Owner.Client]
		if !hasStopped && hindered[key.Owner.Client] {
			stoppedAt, hasStopped = key.Set.At, true
		}
		return hasStopped && key.Due != Forever && ev.At < min(key.Due, stoppedAt+ttl)
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
			ofCrashed := func(id Acquisition, _ bool) bool { return id.Client == ev.Process }
			maps.DeleteFunc(asking, func(id Acquisition, _ *FailedAcquire) bool { return ofCrashed(id, true) })
			maps.DeleteFunc(inSection, ofCrashed)
			maps.DeleteFunc(inRelease, ofCrashed)
		case ev.Kind == trace.KindPromote:
			slots.See(ev)
		case ev.Kind == trace.KindBegin && ev.Step == trace.Acquire && ev.Lock == lock:
			asking[id] = &FailedAcquire{}
		case ev.Kind == trace.KindEnd && ev.Step == trace.Acquire && ev.OK:
			inSection[id] = true
			delete(asking, id)
		case ev.Kind == trace.KindEnd && ev.Step == trace.Acquire:
			if attempt := asking[id]; attempt != nil {
				attempt.Ended = ev
				all = append(all, *attempt)
				delete(asking, id)
			}
		case ev.Kind == trace.KindBegin && ev.Step == trace.Release:
			inRelease[id] = !hindered[ev.Process]
		case ev.Kind == trace.KindEnd && ev.Step == trace.Release:
			delete(inSection, id)
			delete(inRelease, id)
		}
		k.See(ev)
		last = ev
		var keyOwners, leftoverOwners owners
		for _, p := range slots {
			key := k.At(p)
			if key == nil {
				continue
			}
			keyOwners.add(key.Owner)
			if asking[key.Owner] == nil && !inSection[key.Owner] && !mayLeave(key, ev) {
				leftoverOwners.add(key.Owner)
			}
		}
		for id, attempt := range asking {
			attempt.MetOtherKeys = attempt.MetOtherKeys || keyOwners.others(id)
			attempt.MetLeftoverKeys = attempt.MetLeftoverKeys || leftoverOwners.others(id)
		}
	}
	unavailableSlots := 0
	for _, p := range slots {
		if key := k.At(p); key != nil && (mayLeave(key, last) || inSection[key.Owner] && h.isWorking(key.Owner, MomentOf(last))) {
			unavailableSlots++
		}
	}
	releasing := slices.Contains(slices.Collect(maps.Values(inRelease)), true)
	return Contention{all, releasing, unavailableSlots > 0 && len(slots)-unavailableSlots < h.locks[lock].Quorum}
}

// isWorking reports whether an acquisition had a critical section and a lease at a moment, and its
// client was not waiting in a call of the lock.
func (h *History) isWorking(id Acquisition, m Moment) bool {
	s := h.Section(id)
	return s != nil && m.Before(s.To) && m.Before(s.Lease.End()) && !slices.ContainsFunc(h.CallsOf(id), func(c *Call) bool {
		return c.Step.AtLock() && c.Began != nil && !m.Before(MomentOf(c.Began)) && (c.Ended == nil || m.Before(MomentOf(c.Ended)))
	})
}

// owners summarises which acquisitions own some keys: the first owner, whether there is any owner,
// and whether there are several. This is enough for the method others.
type owners struct {
	first        Acquisition
	any, several bool
}

func (o *owners) add(id Acquisition) {
	if !o.any {
		o.first, o.any = id, true
	}
	o.several = o.several || id != o.first
}

// others reports whether there is an owner other than id.
func (o *owners) others(id Acquisition) bool { return o.several || o.any && o.first != id }
