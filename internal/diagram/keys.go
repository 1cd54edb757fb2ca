package diagram

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
)

// A keyBar shows how long a lock's key existed on one node.
type keyBar struct {
	of               *history.Holding
	node, key, owner string
	from, to         time.Duration
	touched          []time.Duration // when the key's expiry was changed
	// row is the bar's row on the node's lane, because a lock can have several keys on one
	// node.
	row int
	// setSeq and endSeq are the Seqs of the events with which the key began and ended.
	set, last int
}

// readKeys finds the keys of locks on all nodes.
func (d *diagram) readKeys(most int, again []stretch) {
	rows := map[string][]string{} // the keys of each node
	var all []keyBar
	total := 0
	for _, k := range d.history.Holdings() {
		if !d.history.IsLockKey(k.Key) {
			continue
		}
		if !slices.Contains(rows[k.Node], k.Key) {
			rows[k.Node] = append(rows[k.Node], k.Key)
		}
		total++
		if !within(k.Set.Seq, again) {
			bar := d.keyBar(k)
			bar.row = slices.Index(rows[k.Node], k.Key)
			all = append(all, bar)
		}
	}
	// In this order, keys that still exist at the end of the run come last.
	slices.SortStableFunc(all, func(a, b keyBar) int { return cmp.Compare(a.last, b.last) })
	d.keys = keepHeaviest(d.focus, all, most, equalWeight, func(k keyBar) int { return k.set })
	for _, k := range d.keys {
		d.show(k.from, k.to)
		d.show(k.touched[:min(len(k.touched), mostExtensions)]...)
	}
	d.noteOmitted(len(all)-len(d.keys), total-len(all), "a key", "keys")
}

// newKeyBar returns the bar of a key for the time in which the key really existed, even if
// a trace reports its end later.
func (d *diagram) keyBar(k *history.Holding) keyBar {
	there := k.Existence()
	bar := keyBar{
		of: k, node: k.Node, key: k.Key, owner: story.Owner(k.Set.Owner), from: there.From.At, to: min(there.To.At, d.end()),
		set: k.Set.Seq, last: math.MaxInt,
	}
	for _, ev := range k.Touches {
		bar.touched = append(bar.touched, ev.At)
	}
	if k.Ended != nil {
		bar.last = k.Ended.Seq
	}
	return bar
}
