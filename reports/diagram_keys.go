package reports

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A keyBar is the life of a lock's key on one node.
type keyBar struct {
	node, key, owner string
	from, to         time.Duration
	touched          []time.Duration // when its expiry was changed
	due              time.Duration   // when it was to end, by the node's clock; 0 is never
	// row is its place on the node's lane: a lock can have several keys on one node.
	row   int
	ended string
	set   int // the Seq with which it began
}

func (k keyBar) words() string {
	words := fmt.Sprintf("%s key %s on %s %s: %s", possessive(k.owner), visible(k.key), visible(k.node), fromTo(k.from, k.to), k.ended)
	if n := len(k.touched); n > 0 {
		words += fmt.Sprintf("; its expiry was changed %s", count(n, "time"))
	}
	return words
}

// readKeys follows the keys of the locks on every node.
func (d *diagram) readKeys(most int, again []stretch) {
	type place struct{ node, key string }
	open := map[place]*keyBar{}
	down := outages{}
	var places []place // those of open, in order
	rows := map[string][]string{}
	var all []keyBar
	total := 0
	closeBar := func(at place, when time.Duration, how string) {
		bar := open[at]
		if bar == nil {
			return
		}
		delete(open, at)
		bar.to, bar.ended = when, how
		total++
		if !within(bar.set, again) {
			all = append(all, *bar)
		}
	}
	for i := range d.trace.Events {
		ev := &d.trace.Events[i]
		at := place{ev.Process, ev.Key}
		down.note(ev)
		if ev.Key == "" || !keyOfLock(d.trace, ev.Key) {
			continue
		}
		switch ev.Kind {
		case trace.KindSet, trace.KindRestore:
			closeBar(at, ev.At, "overwritten by "+visible(ownerOf(ev.Owner)))
			if !slices.Contains(rows[at.node], at.key) {
				rows[at.node] = append(rows[at.node], at.key)
			}
			open[at] = &keyBar{node: at.node, key: at.key, owner: ownerOf(ev.Owner), from: ev.At, row: slices.Index(rows[at.node], at.key), due: ev.Expires, set: ev.Seq}
			if !slices.Contains(places, at) {
				places = append(places, at)
			}
		case trace.KindTouch:
			if bar := open[at]; bar != nil {
				bar.touched, bar.due = append(bar.touched, ev.At), ev.Expires
			}
		case trace.KindDelete:
			how := "removed"
			if ev.By != nil {
				how += " by " + visible(ev.By.Client)
			}
			closeBar(at, ev.At, how)
		case trace.KindExpire:
			// A node that was down when the time was up says so only when it is back.
			when := ev.At
			if bar := open[at]; bar != nil && down.last(at.node).covers(bar.due) {
				when = bar.due
			}
			closeBar(at, when, "it expired")
		case trace.KindForget:
			closeBar(at, min(ev.At, down.last(at.node).from), "lost in the crash")
		}
	}
	for _, at := range places {
		if last := down.last(at.node); last.to == history.Forever {
			closeBar(at, last.from, "the node went down, and never came back")
		}
		closeBar(at, d.trace.End(), "it still stands at the end")
	}
	d.keys = keep(d, all, most, asMuch, func(k keyBar) int { return k.set })
	for _, k := range d.keys {
		d.see(k.from, k.to)
		d.see(k.touched[:min(len(k.touched), mostExtensions)]...)
	}
	d.omit(len(all)-len(d.keys), total-len(all), "a key", "keys")
}

// An outage is a stretch during which a node was down.
type outage struct{ from, to time.Duration }

func (o outage) covers(at time.Duration) bool { return o.from <= at && at <= o.to }

// outages are the last ones of each node.
type outages map[string]outage

func (o outages) note(ev *trace.Event) {
	switch ev.Kind {
	case trace.KindCrash:
		o[ev.Process] = outage{ev.At, history.Forever}
	case trace.KindRestart:
		o[ev.Process] = outage{o[ev.Process].from, ev.At}
	}
}

// last is a node's last outage. One that was never down has one that covers nothing.
func (o outages) last(node string) outage {
	if down, ok := o[node]; ok {
		return down
	}
	return outage{history.Forever, 0}
}

// leaseWords describe the lease of a section.
func leaseWords(s history.Span) string {
	if s.LeaseEnd == history.Forever {
		return fmt.Sprintf("%s lease from %s, without an end", possessive(s.Client), moment(s.From, 3))
	}
	words := fmt.Sprintf("%s lease %s", possessive(s.Client), fromTo(s.From, s.LeaseEnd))
	if n := len(s.Extended); n > 0 {
		words += fmt.Sprintf(", extended %s", count(n, "time"))
	}
	return words
}

// sectionWords describe a section.
func sectionWords(s history.Span, end time.Duration) string {
	words := fmt.Sprintf("%s in its critical section %s", visible(s.Client), fromTo(s.From, min(s.To, end)))
	if s.Token != 0 {
		words += ", token " + token(s.Token)
	}
	switch {
	case s.CutShort != "":
		words += ": " + visible(s.CutShort)
	case s.To == history.Forever:
		words += ": it never left"
	}
	return words
}
