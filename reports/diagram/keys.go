package diagram

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/story"
)

// A keyBar is the life of a lock's key on one node.
type keyBar struct {
	node, key, owner string
	from, to         time.Duration
	touched          []time.Duration // when its expiry was changed
	// row is its place on the node's lane: a lock can have several keys on one node.
	row   int
	ended string
	// set and last are the Seqs with which it began and ended.
	set, last int
}

func (k keyBar) words() string {
	words := fmt.Sprintf("%s key %s on %s %s: %s", story.Visible(story.Possessive(k.owner)), story.Visible(k.key), story.Visible(k.node), story.FromTo(k.from, k.to), k.ended)
	if n := len(k.touched); n > 0 {
		words += fmt.Sprintf("; its expiry was changed %s", story.Count(n, "time"))
	}
	return words
}

// readKeys finds what stood of the locks' keys on every node.
func (d *diagram) readKeys(most int, again []stretch) {
	rows := map[string][]string{} // the keys of each node
	var all []keyBar
	total := 0
	for _, k := range d.history.Holdings() {
		if !d.history.Trace.IsLockKey(k.Key) {
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
	d.keys = keep(d.focus, all, most, asMuch, func(k keyBar) int { return k.set })
	for _, k := range d.keys {
		d.see(k.from, k.to)
		d.see(k.touched[:min(len(k.touched), mostExtensions)]...)
	}
	d.omit(len(all)-len(d.keys), total-len(all), "a key", "keys")
}

// keyBar draws a key for as long as it was really there.
func (d *diagram) keyBar(k *history.Holding) keyBar {
	there := k.There()
	bar := keyBar{
		node: k.Node, key: k.Key, owner: story.Owner(k.Set.Owner), from: there.From.At, to: min(there.To.At, d.end()),
		set: k.Set.Seq, last: math.MaxInt,
	}
	for _, ev := range k.Touches {
		bar.touched = append(bar.touched, ev.At)
	}
	if k.Ended != nil {
		bar.last = k.Ended.Seq
	}
	switch k.How {
	case history.Overwritten, history.Replaced:
		bar.ended = "overwritten by " + story.Visible(story.Owner(k.Ended.Owner))
		switch {
		case k.CameBack():
			bar.ended = "it came back as it had been before it was prolonged"
		case k.Itself():
			bar.ended = "its master gave it another time of expiry"
		case there != k.Withheld():
			bar.ended = "lost in the crash, after which an older state came back"
		}
	case history.Removed:
		bar.ended = "removed"
		if k.Ended.By != nil {
			bar.ended += " by " + story.Visible(k.Ended.By.Client)
		}
	case history.Expired:
		bar.ended = "it expired"
	case history.Forgotten:
		bar.ended = "lost in the crash"
	default:
		bar.ended = "it still stands at the end"
		if there.To != history.Never {
			bar.ended = "the node went down, and never came back"
		}
	}
	return bar
}
