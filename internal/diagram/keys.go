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
	holding          *history.Holding
	node, key, owner string
	from, to         time.Duration
	expiryChanges    []time.Duration // when the key's expiry was changed
	// row is the bar's row within the node's lane, because a lock can have several keys on
	// one node.
	row int
	// setSeq and endSeq are the numbers of the events that set and ended the key. endSeq is
	// math.MaxInt if the key still exists at the end of the run.
	setSeq, endSeq int
}

// readKeys finds the keys of locks on all nodes.
func (d *diagram) readKeys(limit int, repeats []eventRange) {
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
		if !inAnyRange(k.Set.Seq, repeats) {
			bar := d.newKeyBar(k)
			bar.row = slices.Index(rows[k.Node], k.Key)
			all = append(all, bar)
		}
	}
	// In this order, keys that still exist at the end of the run come last.
	slices.SortStableFunc(all, func(a, b keyBar) int { return cmp.Compare(a.endSeq, b.endSeq) })
	d.keys = keepHeaviest(d.focus, all, limit, equalWeight, func(k keyBar) int { return k.setSeq })
	for _, k := range d.keys {
		d.addMoments(k.from, k.to)
		d.addMoments(k.expiryChanges[:min(len(k.expiryChanges), maxExtensions)]...)
	}
	d.noteOmitted(len(all)-len(d.keys), total-len(all), "a key", "keys")
}

// newKeyBar returns the bar of a key. The bar ends when the key really ended, even if the
// trace reports that only later.
func (d *diagram) newKeyBar(k *history.Holding) keyBar {
	existence := k.Existence()
	bar := keyBar{
		holding: k, node: k.Node, key: k.Key, owner: story.Owner(k.Set.Owner), from: existence.From.At, to: min(existence.To.At, d.end()),
		setSeq: k.Set.Seq, endSeq: math.MaxInt,
	}
	for _, ev := range k.Touches {
		bar.expiryChanges = append(bar.expiryChanges, ev.At)
	}
	if k.Ended != nil {
		bar.endSeq = k.Ended.Seq
	}
	return bar
}
