package history

import (
	"cmp"
	"time"

	"github.com/locksim/locksim/trace"
)

// A Place is where a key stands.
type Place struct{ Node, Key string }

// A Holding is a key that stands on a node, from when it was set, or came back from a
// disk or a master, until it no longer stood as it was. A change of its expiry does not
// end it.
//
// "Whose key stands where" is four questions, because not everybody can know the same
// thing at the same time. Each has a name and is answered from the one record:
//
//   - [Holding.Withheld]: while nobody else could be granted what it holds. A node that
//     has crashed counts as holding until it restarts.
//   - [Holding.Visible]: while somebody who asked the node would have found it.
//   - [Holding.There]: while it was really there, as one knows afterwards: what a crash
//     destroyed was gone with the crash, though that showed only later.
//   - [Holding.Due]: until when its owner may rely on it, if nobody takes it away.
type Holding struct {
	Place
	// Owner is the acquisition that set it; zero for nobody's that is known.
	Owner Acquisition
	// By is the command that set it; nil for a copy or what came back from a disk.
	By    *trace.Actor
	Value string
	// Set is the event that began it, From when.
	Set  *trace.Event
	From Moment
	// Touches are the events that changed its expiry, in order.
	Touches []*trace.Event
	// Due is when it has stood for its TTL of true time since it was last set or
	// prolonged; [Forever] for one that does not expire.
	Due time.Duration
	// Expires is the true time at which the node's own clock ended it, as far as was
	// known when it was last set or prolonged; 0 is never.
	Expires time.Duration
	// How says how it ended, Ended with which event; nil while it stands.
	How   Ending
	Ended *trace.Event
	// to is when the end took effect for those who ask for the lock: not before its
	// node was back.
	to Moment
	// dark are the times in which its node was down while it stood, in order.
	dark []Interval
	// up is, of one that expired and whose node had been down, when its time was up by the
	// node's clock.
	up Moment
}

// An Ending is how something ended.
type Ending string

const (
	Standing    Ending = ""            // it has not
	Overwritten Ending = "overwritten" // by a command
	Removed     Ending = "removed"     // by a command
	Expired     Ending = "expired"     // by the node's clock
	Forgotten   Ending = "forgotten"   // lost in a crash
	Dropped     Ending = "dropped"     // with the connection that held it
	Replaced    Ending = "replaced"    // by what came back from a disk, or from a master
)

// endings are how each event that is about a key ends what stands.
var endings = map[trace.Kind]Ending{
	trace.KindSet:     Overwritten,
	trace.KindRestore: Replaced,
	trace.KindDelete:  Removed,
	trace.KindExpire:  Expired,
	trace.KindForget:  Forgotten,
	trace.KindDrop:    Dropped,
}

// An Interval is a stretch of time: from a moment, which belongs to it, to another, which
// does not.
type Interval struct{ From, To Moment }

// Has says whether a moment is in the interval.
func (i Interval) Has(m Moment) bool { return !m.Before(i.From) && m.Before(i.To) }

// Withheld is the time during which nobody else could be granted what the key holds.
func (h *Holding) Withheld() Interval { return Interval{h.From, h.to} }

// Visible are the times during which the node would have answered that the key stands,
// in order. Of a key that a restart showed to be gone it takes hindsight to say that from
// the restart on: the events that say it come after that of the restart.
func (h *Holding) Visible() []Interval {
	var all []Interval
	from := h.From
	for _, d := range h.dark {
		if from.Before(d.From) {
			all = append(all, Interval{from, d.From})
		}
		from = d.To
	}
	if from.Before(h.to) && !h.goneWithRestart() {
		all = append(all, Interval{from, h.to})
	}
	return all
}

// goneWithRestart says that the key stood when its node went down, and that it did not any
// more showed when the node was back.
func (h *Holding) goneWithRestart() bool {
	n := len(h.dark)
	return n > 0 && h.dark[n-1].To != Never && h.dark[n-1].To.At == h.to.At
}

// There is the time during which the key was really there. It needs hindsight: what was
// lost with a crash is dated back to the crash, and what expired while its node was down
// to when its time was up. What came back with the time of expiry that it had once was
// there all along. What a node holds that never came back nobody will ever see again: it
// was there until the crash.
func (h *Holding) There() Interval {
	whole := Interval{h.From, h.to}
	if len(h.dark) == 0 {
		return whole
	}
	last := h.dark[len(h.dark)-1]
	switch {
	case last.To == Never:
		whole.To = last.From
	case !h.goneWithRestart():
	case h.How == Forgotten, h.How == Replaced && !h.CameBack():
		whole.To = last.From
	case h.How == Expired:
		whole.To = Earlier(Later(h.up, h.From), h.to)
	}
	return whole
}

// Itself says that what replaced the key is the key itself, with another time of expiry.
func (h *Holding) Itself() bool {
	return h.How == Replaced && h.Owner == AcquisitionOf(h.Ended.Owner) && h.Value == h.Ended.Value
}

// CameBack says that it is the key itself that a restart brought back, as it had been on
// the disk.
func (h *Holding) CameBack() bool { return h.Itself() && h.goneWithRestart() }

// last is the event that last set the key's expiry.
func (h *Holding) last() *trace.Event {
	if n := len(h.Touches); n > 0 {
		return h.Touches[n-1]
	}
	return h.Set
}

// A Change is what one event did to one key.
type Change struct {
	Event *trace.Event
	Place
	// At is when it took effect for those who ask for the lock.
	At time.Duration
	// Was and Is are what stood before and after it: nil is none. Touch says that only the
	// expiry changed; then they are one holding.
	Was, Is *Holding
	Touch   bool
	// How is how such an event ends what stands, if anything does; [Standing] for one that
	// changes only the expiry.
	How Ending
	// Due is what the due of Was had been.
	Due time.Duration
}

// Keys is a reader: it follows the keys of a run's nodes, event by event, and knows only
// the past. A node that has crashed counts as holding what it held until it is
// restarted, because nobody can be granted what it held before.
type Keys struct {
	standing map[Place]*Holding
	down     map[string]Moment // since when
	// waiting is what became of the keys of a node that is down.
	waiting map[string][]*trace.Event
	// places are where anything stands or stood, in the order of their first keys.
	places []Place
	known  map[Place]bool
	ended  func(*Holding)
	// told are the changes of the last event.
	told []Change
}

// NewKeys returns a reader that has seen nothing.
func NewKeys() *Keys {
	return &Keys{
		standing: map[Place]*Holding{},
		down:     map[string]Moment{},
		waiting:  map[string][]*trace.Event{},
		known:    map[Place]bool{},
	}
}

// At is what stands at a place; nil is nothing. It is never to be written to.
func (k *Keys) At(p Place) *Holding { return k.standing[p] }

// Visible says whether a node would answer now that a key stands.
func (k *Keys) Visible(p Place) bool { return k.standing[p] != nil && !k.isDown(p.Node) }

func (k *Keys) isDown(node string) bool { _, is := k.down[node]; return is }

// Places are where keys stand or have stood, in the order of the first of each.
func (k *Keys) Places() []Place { return k.places }

// See takes in the next event and returns what it changed, in order. The list is valid
// until the next See.
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
			k.waiting[ev.Process] = append(k.waiting[ev.Process], ev)
			return nil
		}
		k.told = append(k.told[:0], k.apply(ev, MomentOf(ev)))
		return k.told
	}
	return nil
}

// restart has all that happened to the keys of a node while it was down take effect.
func (k *Keys) restart(ev *trace.Event) []Change {
	since, was := k.down[ev.Process]
	if !was {
		return nil
	}
	delete(k.down, ev.Process)
	for _, p := range k.places {
		if h := k.standing[p]; h != nil && p.Node == ev.Process {
			h.dark = append(h.dark, Interval{since, MomentOf(ev)})
		}
	}
	k.told = k.told[:0]
	for _, late := range k.waiting[ev.Process] {
		k.told = append(k.told, k.apply(late, MomentOf(ev)))
	}
	delete(k.waiting, ev.Process)
	return k.told
}

func (k *Keys) apply(ev *trace.Event, at Moment) Change {
	p := Place{ev.Process, ev.Key}
	c := Change{Event: ev, Place: p, At: at.At, Was: k.standing[p], Touch: ev.Kind == trace.KindTouch}
	if c.Was != nil {
		c.Due = c.Was.Due
	}
	c.How = endings[ev.Kind]
	switch ev.Kind {
	case trace.KindTouch:
		if c.Was != nil && c.Was.Owner == AcquisitionOf(ev.Owner) {
			c.Is = c.Was
			c.Is.Touches = append(c.Is.Touches, ev)
			break
		}
		fallthrough // a trace that begins in the middle
	case trace.KindSet, trace.KindRestore:
		k.end(c.Was, ev, at, cmp.Or(c.How, Overwritten))
		c.Is = &Holding{Place: p, Owner: AcquisitionOf(ev.Owner), Value: ev.Value, Set: ev, From: at, to: Never}
		if ev.Kind == trace.KindSet {
			c.Is.By = ev.By
		}
		if k.standing[p] = c.Is; !k.known[p] {
			k.known[p] = true
			k.places = append(k.places, p)
		}
	default:
		k.end(c.Was, ev, at, c.How)
	}
	if c.Is != nil {
		c.Is.Due, c.Is.Expires = Forever, 0
		if ev.TTL > 0 {
			c.Is.Due, c.Is.Expires = at.At+ev.TTL, ev.Expires
		}
	}
	return c
}

func (k *Keys) end(h *Holding, ev *trace.Event, at Moment, how Ending) {
	if h == nil {
		return
	}
	h.How, h.Ended, h.to = how, ev, at
	delete(k.standing, h.Place)
	if k.ended != nil {
		k.ended(h)
	}
}

// alike reports whether every key that stands on one node stands on another with
// the same value.
func (k *Keys) alike(node, other string) bool {
	for _, p := range k.places {
		was := k.standing[p]
		if p.Node != node || was == nil {
			continue
		}
		if is := k.standing[Place{other, p.Key}]; is == nil || is.Value != was.Value {
			return false
		}
	}
	return true
}
