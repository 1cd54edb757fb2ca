package diagram

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
)

// A keyBar is the life of a lock's key on one node.
type keyBar struct {
	of               *history.Holding
	node, key, owner string
	from, to         time.Duration
	touched          []time.Duration // when its expiry was changed
	// row is its row on the node's lane: a lock can have several keys on one node.
	row int
	// set and last are the Seqs of its beginning and its end.
	set, last int
}

// readKeys finds the locks' keys on every node.
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
	slices.SortStableFunc(all, func(a, b keyBar) int { return cmp.Compare(a.last, b.last) })
	d.keys = keepHeaviest(d.focus, all, most, equalWeight, func(k keyBar) int { return k.set })
	for _, k := range d.keys {
		d.show(k.from, k.to)
		d.show(k.touched[:min(len(k.touched), mostExtensions)]...)
	}
	d.noteOmitted(len(all)-len(d.keys), total-len(all), "a key", "keys")
}

// keyBar returns the bar of a key for as long as it really existed.
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
