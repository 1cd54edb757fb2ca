package checks

import (
	"slices"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// NewOracle returns an oracle: it ranks the grants of a run as a perfect lock
// service would have, from the keys that stood on the nodes and not from the
// commands that set them.
//
// An episode begins when one acquisition's value stands, unexpired by each
// node's clock, on a quorum of the lock's slots at once; it ends when it no
// longer does. A node that has crashed counts as holding its keys until it is
// restarted. A successful acquire gets the rank of the last episode that began
// during its call: the last, because a library may use one value for several
// inner attempts. If there was none, it gets the rank of its last successful
// change of a slot, and if it changed none, that of its return; then it was
// granted by nobody.
//
// Ranks are small whole numbers that count up for each lock. One is fixed when
// acquire returns; extending never changes it, and failed attempts leave gaps.
func NewOracle(t *trace.Trace) sim.Oracle {
	o := &oracle{keys: newKeys(), locks: map[string]*ranks{}}
	for _, l := range t.Locks {
		o.add(l)
	}
	return o
}

type oracle struct {
	keys  *keys
	locks map[string]*ranks
	// names lists the locks in a fixed order.
	names []string
}

func (o *oracle) add(l trace.LockInfo) *ranks {
	r := &ranks{
		slots:    slotsOf(l),
		quorum:   l.Quorum,
		standing: map[grant]bool{},
		episodes: map[acquisition]uint64{},
		reserved: map[acquisition]uint64{},
		settled:  map[acquisition]bool{},
	}
	o.locks[l.Name] = r
	o.names = append(o.names, l.Name)
	return r
}

// Observe takes in the next event of the run.
func (o *oracle) Observe(ev *trace.Event) {
	changes := o.keys.observe(ev)
	for _, name := range o.names {
		r := o.locks[name]
		if ev.Kind == trace.KindPromote {
			r.slots.promote(ev)
			r.compare(o.keys)
		}
		for _, c := range changes {
			if slices.Contains(r.slots, c.place) {
				r.note(c.ev)
				r.compare(o.keys)
			}
		}
	}
}

// Grant fixes the rank of an acquire that returns.
func (o *oracle) Grant(lock, client string, section int) (rank uint64, ungranted bool) {
	r := o.locks[lock]
	if r == nil {
		r = o.add(trace.LockInfo{Name: lock})
	}
	return r.fix(acquisition{client, section})
}

// A grant is a value that an acquisition has set. Two clients may use one value,
// and one client the same value twice.
type grant struct {
	acquisition
	value string
}

// ranks numbers the grants of one lock.
type ranks struct {
	slots  slots
	quorum int
	last   uint64
	// standing are the grants that stand on a quorum now, episodes the rank of the
	// last that began for each acquisition. It began during the call of acquire,
	// because each call is an acquisition of its own.
	standing map[grant]bool
	episodes map[acquisition]uint64
	// pending are the acquisitions that have changed a slot since and have no
	// number for it, in the order of their last changes; reserved has the
	// numbers of those that had to get one.
	pending  []acquisition
	reserved map[acquisition]uint64
	// settled acquisitions have their ranks.
	settled map[acquisition]bool
}

// note remembers who has changed a slot by a command that sets or prolongs.
func (r *ranks) note(ev *trace.Event) {
	if ev.Kind != trace.KindSet && ev.Kind != trace.KindTouch {
		return
	}
	by := acquisitionOf(ev.By)
	if ev.By == nil {
		by = acquisitionOf(ev.Owner)
	}
	r.forget(by)
	if !r.settled[by] {
		r.pending = append(r.pending, by)
	}
}

func (r *ranks) forget(id acquisition) {
	r.pending = slices.DeleteFunc(r.pending, func(p acquisition) bool { return p == id })
}

// compare looks at which grants stand on a quorum. While one does, its own
// changes need no numbers of their own.
func (r *ranks) compare(k *keys) {
	count := map[grant]int{}
	var grants []grant // in the order of the slots
	for _, p := range r.slots {
		if h := k.standing[p]; h != nil {
			g := grant{h.owner, h.value}
			if count[g] == 0 {
				grants = append(grants, g)
			}
			count[g]++
		}
	}
	for g := range r.standing {
		if count[g] < r.quorum {
			delete(r.standing, g)
		}
	}
	for _, g := range grants {
		if count[g] < r.quorum {
			continue
		}
		r.forget(g.acquisition)
		if !r.standing[g] {
			r.standing[g] = true
			r.number(len(r.pending))
			r.episodes[g.acquisition] = r.next()
		}
	}
}

func (r *ranks) next() uint64 {
	r.last++
	return r.last
}

// number gives numbers to the first n that have none: failed attempts leave
// gaps, and nobody knows yet that they fail.
func (r *ranks) number(n int) {
	for _, id := range r.pending[:n] {
		r.reserved[id] = r.next()
	}
	r.pending = slices.Delete(r.pending, 0, n)
}

func (r *ranks) fix(id acquisition) (rank uint64, ungranted bool) {
	r.settled[id] = true
	if rank := r.episodes[id]; rank > 0 {
		r.forget(id)
		return rank, false
	}
	if i := slices.Index(r.pending, id); i >= 0 {
		r.number(i + 1)
	}
	if rank := r.reserved[id]; rank > 0 {
		return rank, false
	}
	r.number(len(r.pending))
	return r.next(), true
}
