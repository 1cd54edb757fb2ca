package history

import (
	"cmp"
	"time"

	"github.com/locksim/locksim/trace"
)

// A Place is where a key can exist: its name, and the node.
type Place struct{ Node, Key string }

// A Holding is a key that exists on a node. A Holding begins when the key is set, or comes back
// from a disk or a master, and ends when the key is removed, replaced or lost. A change of the
// key's expiry does not end the Holding.
//
// A key exists during four different intervals, because processes learn of its end at different
// times. A Holding has all four:
//
//   - [Holding.Blocking]: while the key kept other clients from being granted the lock. A node that
//     has crashed counts as keeping its keys until it restarts.
//   - [Holding.Visible]: while the node would have answered a client that the key exists.
//   - [Holding.Existence]: while the key really existed, as is known with hindsight. A key that a
//     crash destroyed ended with the crash, although that showed only later.
//   - [Holding.Due]: as long as the owner of the key may rely on it, if no other client removes it.
type Holding struct {
	Place
	// Owner is the acquisition that set the key; zero if no known acquisition did.
	Owner Acquisition
	// By is the actor that set the key; nil for a key that was copied from a master or read
	// back from a disk.
	By    *trace.Actor
	Value string
	// Set is the event with which the holding began, and From the moment at which it began.
	Set  *trace.Event
	From Moment
	// Touches are the events that changed the key's expiry, in order.
	Touches []*trace.Event
	// Due is when, in true time, the key's TTL has passed since it was last set or renewed;
	// [Forever] if it does not expire.
	Due time.Duration
	// Expires is the true time at which the key expires by the node's own clock, as predicted
	// when it was last set or renewed; 0 if it does not expire.
	Expires time.Duration
	// How says how the key ended. Ended is the event with which it ended; nil while the key exists.
	How   Ending
	Ended *trace.Event
	// end is when the key's end took effect for clients that ask for the lock. If the node was down
	// when the key ended, the end took effect when the node restarted.
	end Moment
	// outages are the intervals in which the key's node was down while the key existed, in
	// order.
	outages []Interval
	// expiredAt is when the key expired by the node's clock. It is set only for an expired key
	// whose node was down at some time while the key existed.
	expiredAt Moment
}

// An Ending is how a key ended.
type Ending string

const (
	StillExists Ending = ""            // it has not ended
	Overwritten Ending = "overwritten" // by a command
	Removed     Ending = "removed"     // by a command
	Expired     Ending = "expired"     // by the node's clock
	Forgotten   Ending = "forgotten"   // lost in a crash
	Dropped     Ending = "dropped"     // together with the connection that held it
	Replaced    Ending = "replaced"    // by a key from a disk or from a master
)

// endings maps each kind of event about a key to how it ends the existing key.
var endings = map[trace.Kind]Ending{
	trace.KindSet:     Overwritten,
	trace.KindRestore: Replaced,
	trace.KindDelete:  Removed,
	trace.KindExpire:  Expired,
	trace.KindForget:  Forgotten,
	trace.KindDrop:    Dropped,
}

// An Interval is a time span. It includes the moment From and does not include the moment
// To.
type Interval struct{ From, To Moment }

// Contains reports whether a moment is in the interval.
func (i Interval) Contains(m Moment) bool { return !m.Before(i.From) && m.Before(i.To) }

// Blocking returns the interval during which the key kept other clients from being granted what it
// holds.
func (h *Holding) Blocking() Interval { return Interval{h.From, h.end} }

// Visible returns the intervals during which the node would have reported that the key exists,
// in order. A key that a restart has lost is not visible from the restart on. This needs
// hindsight, because the events of the loss follow the event of the restart.
func (h *Holding) Visible() []Interval {
	var all []Interval
	from := h.From
	for _, d := range h.outages {
		if from.Before(d.From) {
			all = append(all, Interval{from, d.From})
		}
		from = d.To
	}
	if from.Before(h.end) && !h.isGoneAtRestart() {
		all = append(all, Interval{from, h.end})
	}
	return all
}

// isGoneAtRestart reports whether the key existed when its node went down, and was found to
// be gone when the node was back.
func (h *Holding) isGoneAtRestart() bool {
	n := len(h.outages)
	return n > 0 && h.outages[n-1].To != Never && h.outages[n-1].To.At == h.end.At
}

// Existence returns the interval during which the key really existed. It needs hindsight. A key
// that was lost in a crash ended with the crash. A key that expired while its node was down ended
// when it expired. A key that a restart brought back from the disk existed until the restart; then
// a new Holding begins. A key on a node that never came back existed until the crash, because it
// will never be seen again.
func (h *Holding) Existence() Interval {
	whole := Interval{h.From, h.end}
	if len(h.outages) == 0 {
		return whole
	}
	last := h.outages[len(h.outages)-1]
	switch {
	case last.To == Never:
		whole.To = last.From
	case !h.isGoneAtRestart():
	case h.How == Forgotten, h.How == Replaced && !h.IsRestored():
		whole.To = last.From
	case h.How == Expired:
		whole.To = Earlier(Later(h.expiredAt, h.From), h.end)
	}
	return whole
}

// ReplacedByItself reports whether the key was replaced by a key from a disk or a master that has
// the same owner and the same value. The expiry of that key can differ.
func (h *Holding) ReplacedByItself() bool {
	return h.How == Replaced && h.Owner == AcquisitionOf(h.Ended.Owner) && h.Value == h.Ended.Value
}

// IsRestored reports whether a restart brought the same key back, as it had been on the
// disk.
func (h *Holding) IsRestored() bool { return h.ReplacedByItself() && h.isGoneAtRestart() }

// lastExpiryEvent returns the event that last set the key's expiry.
func (h *Holding) lastExpiryEvent() *trace.Event {
	if n := len(h.Touches); n > 0 {
		return h.Touches[n-1]
	}
	return h.Set
}

// A Change is the change of one key by one event.
type Change struct {
	Event *trace.Event
	Place
	// At is when the change took effect for clients that ask for the lock.
	At time.Duration
	// Before and After are the key before and after the event; nil if there was no key.
	// Touch says that only the expiry changed; then Before and After are the same holding.
	Before, After *Holding
	Touch         bool
	// How says how an event of this kind ends a key that existed before; [StillExists] if such an
	// event changes only the expiry.
	How Ending
	// DueBefore is the value that Before.Due had before the event; 0 if Before is nil.
	DueBefore time.Duration
}

// Keys is a reader that follows the keys of a run's nodes, event by event, and knows only
// the past. A node that has crashed counts as holding its keys until it is restarted,
// because before that no other client can be granted what they hold.
type Keys struct {
	existing map[Place]*Holding
	down     map[string]Moment // since when each node is down
	// deferred are the events about keys of a node that is down. They take effect when the
	// node restarts.
	deferred map[string][]*trace.Event
	// places are the places where a key exists or existed, in the order of the first key of
	// each.
	places []Place
	known  map[Place]bool
	// changes are the changes of the last event.
	changes []Change
}

// NewKeys returns a reader that has seen no event.
func NewKeys() *Keys {
	return &Keys{
		existing: map[Place]*Holding{},
		down:     map[string]Moment{},
		deferred: map[string][]*trace.Event{},
		known:    map[Place]bool{},
	}
}

// At returns the key at a place, or nil. The caller must not modify it.
func (k *Keys) At(p Place) *Holding { return k.existing[p] }

// IsVisible reports whether the node of a place would report now that the key exists.
func (k *Keys) IsVisible(p Place) bool { return k.existing[p] != nil && !k.isDown(p.Node) }

func (k *Keys) isDown(node string) bool { _, is := k.down[node]; return is }

// Places returns the places where keys exist or have existed, in the order of the first key
// of each.
func (k *Keys) Places() []Place { return k.places }

// See processes the next event and returns its changes, in order. The list is valid until
// the next call of See.
func (k *Keys) See(ev *trace.Event) []Change {
	switch ev.Kind {
	case trace.KindCrash:
		if !k.isDown(ev.Process) {
			k.down[ev.Process] = MomentOf(ev)
		}
	case trace.KindRestart:
		return k.restart(ev)
	case trace.KindSet, trace.KindTouch, trace.KindRestore, trace.KindDelete, trace.KindExpire, trace.KindForget, trace.KindDrop:
		if k.isDown(ev.Process) {
			k.deferred[ev.Process] = append(k.deferred[ev.Process], ev)
			return nil
		}
		k.changes = append(k.changes[:0], k.apply(ev, MomentOf(ev)))
		return k.changes
	}
	return nil
}

// restart applies the events about a node's keys that happened while the node was down.
func (k *Keys) restart(ev *trace.Event) []Change {
	downSince, wasDown := k.down[ev.Process]
	if !wasDown {
		return nil
	}
	delete(k.down, ev.Process)
	for _, p := range k.places {
		if h := k.existing[p]; h != nil && p.Node == ev.Process {
			h.outages = append(h.outages, Interval{downSince, MomentOf(ev)})
		}
	}
	k.changes = k.changes[:0]
	for _, deferredEvent := range k.deferred[ev.Process] {
		k.changes = append(k.changes, k.apply(deferredEvent, MomentOf(ev)))
	}
	delete(k.deferred, ev.Process)
	return k.changes
}

// apply changes a key as the event ev describes, with effect from the moment at.
func (k *Keys) apply(ev *trace.Event, at Moment) Change {
	p := Place{ev.Process, ev.Key}
	c := Change{Event: ev, Place: p, At: at.At, Before: k.existing[p], Touch: ev.Kind == trace.KindTouch}
	if c.Before != nil {
		c.DueBefore = c.Before.Due
	}
	c.How = endings[ev.Kind]
	switch ev.Kind {
	case trace.KindTouch:
		if c.Before != nil && c.Before.Owner == AcquisitionOf(ev.Owner) {
			c.After = c.Before
			c.After.Touches = append(c.After.Touches, ev)
			break
		}
		fallthrough // the trace begins after the event that set the key
	case trace.KindSet, trace.KindRestore:
		k.end(c.Before, ev, at, cmp.Or(c.How, Overwritten))
		c.After = &Holding{Place: p, Owner: AcquisitionOf(ev.Owner), Value: ev.Value, Set: ev, From: at, end: Never}
		if ev.Kind == trace.KindSet {
			c.After.By = ev.By
		}
		if k.existing[p] = c.After; !k.known[p] {
			k.known[p] = true
			k.places = append(k.places, p)
		}
	default:
		k.end(c.Before, ev, at, c.How)
	}
	if c.After != nil {
		c.After.Due, c.After.Expires = Forever, 0
		if ev.TTL > 0 {
			c.After.Due, c.After.Expires = at.At+ev.TTL, ev.Expires
		}
	}
	return c
}

// end ends a key with the event ev; h is nil if there is no key.
func (k *Keys) end(h *Holding, ev *trace.Event, at Moment, how Ending) {
	if h == nil {
		return
	}
	h.How, h.Ended, h.end = how, ev, at
	delete(k.existing, h.Place)
}

// haveSameKeys reports whether each key on node also exists on other, with the same value.
func (k *Keys) haveSameKeys(node, other string) bool {
	for _, p := range k.places {
		key := k.existing[p]
		if p.Node != node || key == nil {
			continue
		}
		if counterpart := k.existing[Place{other, p.Key}]; counterpart == nil || counterpart.Value != key.Value {
			return false
		}
	}
	return true
}
