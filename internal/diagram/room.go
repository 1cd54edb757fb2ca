package diagram

import (
	"cmp"
	"math"
	"slices"

	"github.com/locksim/locksim/internal/story"
)

// A Room is a number of things for each kind of thing in a diagram: how many a diagram may
// show, or how many it has.
type Room struct{ messages, decisions, keys, attempts, sections, overlaps, steps, bands, pennants, lanes int }

// unlimitedRoom has no limits, except for lanes, bands and pennants: readers could not
// distinguish more of them.
var unlimitedRoom = Room{
	messages: math.MaxInt, decisions: math.MaxInt, keys: math.MaxInt, attempts: math.MaxInt,
	sections: math.MaxInt, overlaps: math.MaxInt, steps: math.MaxInt,
	bands: 200, pennants: 60, lanes: 64,
}

// bytesPerThing is about how many bytes of a page one thing of each kind takes.
var bytesPerThing = Room{messages: 200, decisions: 345, keys: 255, attempts: 175, sections: 480, overlaps: 450, steps: 290}

// pageRoom is how many bytes of a page the things of all runs on it may take. Together with
// everything else, the page then has less than 600 KB.
const pageRoom = 380_000

// sharedFields returns the fields for the kinds of things whose room the runs of one page
// share.
func (r *Room) sharedFields() []*int {
	return []*int{&r.messages, &r.decisions, &r.keys, &r.attempts, &r.sections, &r.overlaps, &r.steps}
}

// RoomFor returns how many things of each kind a run may show, if all of these runs are on
// one page. If the page has no room for everything, the limits of all kinds are reduced in
// the same proportion. This affects the runs with the most things first.
func RoomFor(runs []story.Run) Room {
	wanted := make([]Room, len(runs))
	largest := Room{}
	for i, run := range runs {
		wanted[i] = newDiagram(run, unlimitedRoom).size()
		for k, n := range wanted[i].sharedFields() {
			*largest.sharedFields()[k] = max(*largest.sharedFields()[k], *n)
		}
	}
	for share := 1000; ; share = share * 9 / 10 {
		limit := unlimitedRoom
		bytes := 0
		for k, n := range limit.sharedFields() {
			*n = (*largest.sharedFields()[k]*share + 999) / 1000
			for i := range wanted {
				bytes += min(*wanted[i].sharedFields()[k], *n) * *bytesPerThing.sharedFields()[k]
			}
		}
		if bytes <= pageRoom || share < 10 {
			return limit
		}
	}
}

// size returns how many things of each kind a diagram has.
func (d *diagram) size() Room {
	return Room{
		messages: len(d.messages), decisions: len(d.decisions), keys: len(d.keys), attempts: len(d.attempts),
		sections: len(d.sections), overlaps: len(d.overlaps), steps: len(d.steps),
	}
}

// keepHeaviest returns at most limit things, in their order. It keeps those with the
// greatest weight and, among things of equal weight, those nearest to the important events.
// seq returns the Seq of a thing's event.
func keepHeaviest[T any](f focus, all []T, limit int, weight, seq func(T) int) []T {
	if len(all) <= limit {
		return all
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(weight(all[b]), weight(all[a])), cmp.Compare(f.distance(seq(all[a])), f.distance(seq(all[b]))))
	})
	order = order[:limit]
	slices.Sort(order)
	kept := make([]T, limit)
	for i, index := range order {
		kept[i] = all[index]
	}
	return kept
}

// equalWeight is the weight function for things that are all equally important.
func equalWeight[T any](T) int { return 0 }
