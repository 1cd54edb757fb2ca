package whatif

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// removal is the text that stands in place of a value in an override that removes what is at its
// path.
const removal = "null"

// trySetting tries other values of a setting, or removes a fault. It leaves out the choice of the
// measures in a report, which turns nothing.
func (f *finder) trySetting(s scenarios.Setting) error {
	if s.Path == "measures" || strings.HasPrefix(s.Path, "measures[") {
		return nil
	}
	if fault, field, ok := cutFault(s.Path); ok && field == "" {
		f.faults = fault
		_, err := f.tryAlone(Turn{Path: s.Path, Value: removal})
		return err
	}
	if s.Path == latencyPath {
		return f.tryLatency(s)
	}
	if value, u, ok := parseValue(s.Value); ok && value != 0 {
		return f.tryQuantity(Turn{Path: s.Path, From: s.Value}, value, u)
	}
	if s.IsTime && canBeAdded(s.Path) {
		return f.tryAbsentTime(s.Path)
	}
	return f.tryWords(s)
}

// cutFault splits the path of a fault, or of one of its fields, into the fault's number, from 1,
// and the field; ok is false for any other path.
func cutFault(path string) (fault int, field string, ok bool) {
	rest, ok := strings.CutPrefix(path, "faults[")
	if !ok {
		return 0, "", false
	}
	number, field, _ := strings.Cut(rest, "]")
	fault, err := strconv.Atoi(number)
	return fault, strings.TrimPrefix(field, "."), err == nil
}

// tryAlone tries a change that has no size, and reports whether the scenario can have it.
func (f *finder) tryAlone(t Turn) (possible bool, err error) {
	t.distance = math.Inf(1)
	if t.Outcome, err = f.try(t.Path, t.Value); err == nil && f.turns(t.Outcome) {
		f.Turns = append(f.Turns, t)
	} else if t.Outcome.isUnknown() {
		f.Unknown = append(f.Unknown, UnknownValues{t.Path, t.Value, t.Value})
	}
	return !t.Outcome.IsImpossible, err
}

// tryWords tries the other words that a setting can have. Other locks are compared by
// locksim compare, not here.
func (f *finder) tryWords(s scenarios.Setting) error {
	if s.Path == "lock.kind" {
		return nil
	}
	before, unknown, tried := len(f.Turns), len(f.Unknown), false
	for _, word := range s.Words {
		if word == s.Value {
			continue
		}
		possible, err := f.tryAlone(Turn{Path: s.Path, Value: word, From: s.Value})
		if err != nil {
			return err
		}
		tried = tried || possible
	}
	if tried && len(f.Turns) == before && len(f.Unknown) == unknown {
		f.Steady = append(f.Steady, s.Path)
	}
	return nil
}

// tryQuantity tries other values of a quantity. For each change of the outcome, it adds the nearest
// smaller value and the nearest larger value that make this change.
func (f *finder) tryQuantity(t Turn, value int64, u unit) error {
	from, r := nearbyValues(value, u)
	if _, _, isFault := cutFault(t.Path); isFault && u == duration && value > 0 {
		from, r = f.extend(from, r)
	}
	override := func(value int64) (path, text string) { return t.Path, r.Format(value) }
	tried, err := f.tryValues(r, from, override)
	if err != nil {
		return err
	}
	if second := int64(time.Second); u == duration && value%second == 0 && tried.onlyMultiplesPossible(second) {
		r.Resolution = max(r.Resolution, second)
		if tried, err = f.tryValues(r, r.multiples(from), override); err != nil {
			return err
		}
	}
	f.addQuantity(t, value, tried)
	return nil
}

// addQuantity adds what was found with the values of one path. now is the present value.
func (f *finder) addQuantity(t Turn, now int64, tried *values) {
	turns := f.nearestTurns(t, now, tried)
	f.Turns = append(f.Turns, turns...)
	if from, to, ok := tried.unknown(math.MinInt64, math.MaxInt64); ok {
		f.Unknown = append(f.Unknown, UnknownValues{t.Path, from, to})
	} else if len(turns) == 0 && tried.anyPossible(now) {
		f.Steady = append(f.Steady, t.Path)
	}
}

// canBeAdded reports whether a time is tried at a path where the scenario has none: the times of a
// client, of a lock and of a storage, and how long a fault without an end lasts. Other times are
// not tried: a shorter run, or an earlier deadline, would only judge less, and a fault that strikes
// at a time instead of a point is another fault.
func canBeAdded(path string) bool {
	_, field, isFault := cutFault(path)
	return isFault && field == "for" ||
		strings.HasPrefix(path, "clients.") || strings.HasPrefix(path, "lock.") || strings.HasPrefix(path, "storage.")
}

// tryAbsentTime tries times, from nearly zero to twice the lease, where the scenario has none.
// For some fields a missing time means the time 0 (a client does not work), and for others an
// endless time (a client never stops waiting for an answer). The runs show which: if the
// shortest time changes the outcome and the longest does not, the missing time is endless.
func (f *finder) tryAbsentTime(path string) error {
	ttl := cmp.Or(int64(f.history.Trace.Locks[0].TTL), int64(explore.DefaultTTL))
	r := newRange(0, 2*ttl, duration)
	var from []int64
	for _, share := range []float64{1. / 1024, 1. / 64, 1. / 8, 1. / 2, 1 - 1./64, 1 - 1./1024, 1 + 1./1024, 1 + 1./64, 1.5, 2} {
		from = append(from, max(r.round(int64(share*float64(ttl))), r.Resolution))
	}
	from = slices.Compact(from)
	tried, err := f.tryValues(r, from, func(value int64) (at, text string) { return path, r.Format(value) })
	if err != nil {
		return err
	}
	now := int64(0)
	shortest, longest := tried.bands[0].Outcome, tried.bands[len(tried.bands)-1].Outcome
	if shortest != (change{}) && longest == (change{}) {
		now = 2 * ttl
	}
	f.addQuantity(Turn{Path: path}, now, tried)
	return nil
}

// latencyPath is the path of the network's latency. It is tried even if the scenario leaves it
// out, as most scenarios do, because every run has a latency.
const latencyPath = "network.latency"

// LongestLatency is the longest latency that a search tries, unless the scenario's own is more
// than an eighth of it.
const LongestLatency = 500 * time.Millisecond

// tryLatency tries other latencies of the network, each the same for all messages. A
// scenario's own latency is usually a range; the changes are measured from its longest.
func (f *finder) tryLatency(s scenarios.Setting) error {
	config, err := f.config()
	if err != nil {
		return err
	}
	now := int64(config.Network.Max)
	from, r := nearbyValues(now, duration)
	if longest := int64(LongestLatency); r.To < longest {
		r = newRange(r.From, longest, duration)
		for value := 2 * from[len(from)-1]; value < longest; value *= 2 {
			from = append(from, r.round(value))
		}
		from = append(from, longest)
	}
	tried, err := f.tryValues(r, from, func(value int64) (path, text string) { return s.Path, r.Format(value) })
	if err == nil {
		f.addQuantity(Turn{Path: s.Path, From: cmp.Or(s.Value, formatLatency(config.Network))}, now, tried)
	}
	return err
}

// formatLatency returns the latency of a network as a file has it.
func formatLatency(n sim.Network) string {
	return trace.ShortDuration(n.Min) + "-" + trace.ShortDuration(n.Max)
}

// extend adds longer times of a fault to from, the values to try, and to their range r. The longest
// is that of the new faults that FindWhy tries.
func (f *finder) extend(from []int64, r Range) ([]int64, Range) {
	longest := 2 * int64(f.history.Trace.Locks[0].TTL)
	if longest <= r.To {
		return from, r
	}
	r = newRange(r.From, longest, r.unit)
	from = append(from, r.round(longest/2), longest)
	slices.Sort(from)
	return slices.Compact(from), r
}

// nearestTurns returns the turns with the nearest values: for each change of the outcome, the
// nearest value below now that makes it, and the nearest value above.
func (f *finder) nearestTurns(t Turn, now int64, tried *values) (turns []Turn) {
	scale := cmp.Or(math.Abs(float64(now)), float64(tried.To)/2) // a time that is absent is compared with the TTL
	add := func(nearest int64, c change, seen *[]change) {
		if c != (change{}) && !slices.Contains(*seen, c) {
			t.Value, t.Outcome = tried.Format(nearest), tried.outcomes[nearest]
			t.UnknownFrom, t.UnknownTo, _ = tried.unknown(min(nearest, now), max(nearest, now))
			t.distance = math.Abs(float64(nearest-now)) / scale
			turns = append(turns, t)
		}
		*seen = append(*seen, c)
	}
	var smaller, larger []change
	for _, b := range slices.Backward(tried.bands) {
		if b.To < now {
			add(b.To, b.Outcome, &smaller)
		}
	}
	for _, b := range tried.bands {
		if b.From > now {
			add(b.From, b.Outcome, &larger)
		}
	}
	return turns
}

// anyPossible reports whether the scenario can have a value other than now.
func (v *values) anyPossible(now int64) bool {
	for value, o := range v.outcomes {
		if value != now && !o.IsImpossible {
			return true
		}
	}
	return false
}

// onlyMultiplesPossible reports whether some of the tried values are impossible, and all possible
// ones are multiples of a unit: some locks count a time in whole seconds.
func (v *values) onlyMultiplesPossible(unit int64) bool {
	anyImpossible := false
	for value, o := range v.outcomes {
		if !o.IsImpossible && value%unit != 0 {
			return false
		}
		anyImpossible = anyImpossible || o.IsImpossible
	}
	return anyImpossible
}

// multiples returns values as multiples of the resolution of the range, without repetitions.
func (r Range) multiples(values []int64) (all []int64) {
	for _, value := range values {
		all = append(all, max(r.round(value), r.Resolution))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
