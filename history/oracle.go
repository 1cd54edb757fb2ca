package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// NewOracle returns an oracle. An oracle ranks the grants of a run as a perfect lock
// service would have done. It looks at the keys on the nodes, not at the commands that set
// them.
//
// An episode is a time during which one acquisition's value exists on a quorum of the lock's slots
// and has not expired by the clocks of their nodes. (A slot is one key on one node. An acquisition
// is one call of acquire and everything that follows from it.) A node that has crashed counts as
// holding its keys until it is restarted.
//
// A successful acquire gets the rank of the last episode that began during its call: a library may
// make several attempts with one value within one call, and only the last one succeeds. If no
// episode began, the acquire gets the rank of its last successful change of a slot. If it changed
// no slot, no server made the grant, and the acquire gets the next rank when it returns.
//
// Ranks are small whole numbers that count up for each lock. A rank is fixed when acquire
// returns. Extending the lease never changes it, and failed attempts leave gaps.
func NewOracle(t *trace.Trace) *Oracle {
	o := &Oracle{keys: NewKeys(), locks: make(map[string]*ranks, len(t.Locks))}
	for _, l := range t.Locks {
		o.add(l)
	}
	o.locate()
	return o
}

// An Oracle is a reader that ranks grants; see [NewOracle]. It must see the events of a run
// in order, and each event before anything reacts to it.
type Oracle struct {
	keys  *Keys
	locks map[string]*ranks
	// slotsAt maps each place (a key on a node) to the locks that have slots there now.
	slotsAt slotIndex
	// changed are the locks that the last event changed.
	changed []*ranks
}

func (o *Oracle) add(l trace.LockInfo) *ranks {
	r := &ranks{
		slots:    slotsOf(l),
		quorum:   l.Quorum,
		count:    map[grant]int{},
		onQuorum: map[grant]bool{},
		episodes: map[Acquisition]uint64{},
		reserved: map[Acquisition]uint64{},
		ranked:   map[Acquisition]bool{},
	}
	o.locks[l.Name] = r
	return r
}

// locate computes at which places the slots of each lock are now.
func (o *Oracle) locate() {
	o.slotsAt = slotIndex{}
	for name, r := range o.locks {
		o.slotsAt.add(name, r.slots)
	}
}

// See processes the next event of the run.
func (o *Oracle) See(ev *trace.Event) { o.see(ev) }

// see processes the next event, and returns the locks that it changed, in no order and
// possibly twice. The list is valid until the next event.
func (o *Oracle) see(ev *trace.Event) []*ranks {
	o.changed = o.changed[:0]
	for _, c := range o.keys.See(ev) {
		for _, s := range o.slotsAt[c.Place] {
			r := o.locks[s.lock]
			r.see(c, s.slots)
			o.changed = append(o.changed, r)
		}
	}
	if ev.Kind == trace.KindPromote {
		for _, r := range o.locks {
			r.slots.See(ev)
			r.recount(o.keys)
			o.changed = append(o.changed, r)
		}
		o.locate()
	}
	return o.changed
}

// Rank fixes and returns the rank of an acquire that returns: its place in the order of grants,
// from 1. ungranted says that the acquisition changed no slot of the lock.
func (o *Oracle) Rank(lock string, id Acquisition) (rank uint64, ungranted bool) {
	r := o.locks[lock]
	if r == nil {
		r = o.add(trace.LockInfo{Name: lock})
	}
	return r.fixRank(id)
}

// A grant is a value that an acquisition has set. Two clients may use the same value, and
// one client may use a value twice.
type grant struct {
	Acquisition
	value string
}

// ranks assigns the ranks of one lock's grants.
type ranks struct {
	slots  Slots
	quorum int
	last   uint64
	// count is the number of slots that have each grant's value now, and onQuorum are the grants
	// whose value is on a quorum. episodes has the rank of the last episode of each acquisition. An
	// acquisition is a single call of acquire, so the episode began during that call.
	count    map[grant]int
	onQuorum map[grant]bool
	episodes map[Acquisition]uint64
	// pending are the acquisitions that have changed a slot and have no rank for that change yet,
	// in the order of their last changes. reserved has the ranks that pending acquisitions got
	// before a later grant got a higher one.
	pending  []Acquisition
	reserved map[Acquisition]uint64
	// ranked are the acquisitions whose ranks are fixed.
	ranked map[Acquisition]bool
}

// see processes a change of a key. slots is how many of the lock's slots are at the key's place.
func (r *ranks) see(c Change, slots int) {
	r.recordChange(c.Event)
	if c.Before != c.After {
		r.add(c.After, slots) // first, because a grant that is set again has no gap
		r.add(c.Before, -slots)
	}
	r.cancelPending()
	if c.After != nil {
		r.beginEpisode(grant{c.After.Owner, c.After.Value})
	}
}

// recount counts the grants on all slots anew.
func (r *ranks) recount(k *Keys) {
	clear(r.count)
	var grants []grant // in the order of the slots
	for _, p := range r.slots {
		if h := k.At(p); h != nil {
			g := grant{h.Owner, h.Value}
			if r.count[g]++; r.count[g] == 1 {
				grants = append(grants, g)
			}
		}
	}
	for g := range r.onQuorum {
		if r.count[g] < r.quorum {
			delete(r.onQuorum, g)
		}
	}
	r.cancelPending()
	for _, g := range grants {
		r.beginEpisode(g)
	}
}

// add adds n to the number of slots that a key's grant is on. n can be negative; h is nil
// if there is no key.
func (r *ranks) add(h *Holding, n int) {
	if h == nil {
		return
	}
	g := grant{h.Owner, h.Value}
	if r.count[g] += n; r.count[g] <= 0 {
		delete(r.count, g)
	}
	if r.count[g] < r.quorum {
		delete(r.onQuorum, g)
	}
}

// beginEpisode begins an episode if a grant has just reached a quorum.
func (r *ranks) beginEpisode(g grant) {
	if r.count[g] < r.quorum || r.count[g] == 0 || r.onQuorum[g] {
		return
	}
	r.removePending(g.Acquisition)
	r.onQuorum[g] = true
	r.assignNumbers(len(r.pending))
	r.episodes[g.Acquisition] = r.next()
}

// cancelPending removes from pending the acquisitions whose grant is on a quorum. These
// acquisitions get the ranks of their episodes, so their changes need no other ranks.
func (r *ranks) cancelPending() {
	for g := range r.onQuorum {
		r.removePending(g.Acquisition)
	}
}

// recordChange records the acquisition whose command has set or renewed the key of a slot.
func (r *ranks) recordChange(ev *trace.Event) {
	if ev.Kind != trace.KindSet && ev.Kind != trace.KindTouch {
		return
	}
	by := AcquisitionOf(ev.By)
	if ev.By == nil {
		by = AcquisitionOf(ev.Owner)
	}
	r.removePending(by)
	if !r.ranked[by] {
		r.pending = append(r.pending, by)
	}
}

func (r *ranks) removePending(id Acquisition) {
	r.pending = slices.DeleteFunc(r.pending, func(p Acquisition) bool { return p == id })
}

func (r *ranks) next() uint64 {
	r.last++
	return r.last
}

// assignNumbers reserves ranks for the first n pending acquisitions. Failed attempts leave
// gaps, because it is not known yet that they will fail.
func (r *ranks) assignNumbers(n int) {
	for _, id := range r.pending[:n] {
		r.reserved[id] = r.next()
	}
	r.pending = slices.Delete(r.pending, 0, n)
}

// fixRank is [Oracle.Rank] for one lock.
func (r *ranks) fixRank(id Acquisition) (rank uint64, ungranted bool) {
	r.ranked[id] = true
	if rank := r.episodes[id]; rank > 0 {
		r.removePending(id)
		return rank, false
	}
	if i := slices.Index(r.pending, id); i >= 0 {
		r.assignNumbers(i + 1)
	}
	if rank := r.reserved[id]; rank > 0 {
		return rank, false
	}
	r.assignNumbers(len(r.pending))
	return r.next(), true
}
