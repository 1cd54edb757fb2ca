package explore

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
)

// plainerFaults makes faults easier to describe. It gives a fault its most common manner, and lets
// a node write to its disk as in the base.
func plainerFaults(_ *Record, w runs.WorldSpec) iter.Seq[runs.WorldSpec] {
	return func(yield func(runs.WorldSpec) bool) {
		for i, f := range w.Faults {
			if f.How() != "" && !yield(replaceFault(w, i, runs.Fault{Fault: f.WithCommonManner()})) {
				return
			}
			usual := w
			usual.Change.Persistence = maps.Clone(w.Change.Persistence)
			delete(usual.Change.Persistence, f.Target())
			if len(usual.Change.Persistence) < len(w.Change.Persistence) && !yield(usual) {
				return
			}
		}
	}
}

// rounderSizes gives a fault the smallest round size. First it tries sizes that begin with 1, 2 or
// 5 and continue with zeros, from the smallest. It tries them all, because damage may appear,
// disappear and reappear as a size grows. Then it tries the other round sizes that lie between the
// last one tried and the current size.
func rounderSizes(_ *Record, w runs.WorldSpec) iter.Seq[runs.WorldSpec] {
	return func(yield func(runs.WorldSpec) bool) {
		for i, f := range w.Faults {
			known := f.Size()
			coarse, round := coarseTimes, roundTimes
			if known.Rate != 0 {
				coarse, round = coarseRates, roundRates
			}
			var last sim.Size
			for _, size := range coarse {
				if !size.Less(known) {
					break
				}
				if last = size; !yield(replaceFault(w, i, f.WithSize(size))) {
					return
				}
			}
			for _, size := range round {
				if last.Less(size) && size.Less(known) && !yield(replaceFault(w, i, f.WithSize(size))) {
					return
				}
			}
		}
	}
}

// roundTimes are times with few digits, in minutes from one minute on. Each is at most a
// third larger than the one before. So the smallest round time that does the damage is
// hardly larger than necessary. coarseTimes are the round times whose only digit is 1, 2 or
// 5. roundRates and coarseRates are the same for rates, from ten parts per million on.
var (
	roundTimes, coarseTimes = roundSizes(func(n int64) sim.Size { return sim.Size{Time: time.Duration(n)} },
		time.Millisecond, 10*time.Millisecond, 100*time.Millisecond, time.Second, 10*time.Second,
		time.Minute, 10*time.Minute, 100*time.Minute)
	roundRates, coarseRates = roundSizes(func(n int64) sim.Size { return sim.Size{Rate: sim.Rate(n)} },
		10*sim.PPM, 100*sim.PPM, sim.Percent/10, sim.Percent, 10*sim.Percent)
)

// roundSizes returns the round sizes, and the coarse ones among them, for some powers of
// ten. size makes a size of a number.
func roundSizes[N ~int64](size func(int64) sim.Size, decades ...N) (round, coarse []sim.Size) {
	for _, decade := range decades {
		for _, tenths := range []int64{10, 12, 15, 20, 25, 30, 40, 50, 60, 80} {
			n := int64(decade) / 10 * tenths
			switch time.Duration(n) {
			case 60 * time.Second, 80 * time.Second:
				if tenths > 10 {
					continue // the next decade begins with a minute
				}
			case 72 * time.Second:
				n = int64(75 * time.Second)
			}
			round = append(round, size(n))
			if tenths == 10 || tenths == 20 || tenths == 50 {
				coarse = append(coarse, size(n))
			}
		}
	}
	return round, coarse
}

// compareSimplicity compares two worlds by how simple they are, as [shrink] does: fewer
// faults, fewer processes, then faults that are easier to describe. It is negative if a is
// simpler than b, and zero only if they are the same.
func compareSimplicity(a, b runs.WorldSpec) int {
	return cmp.Or(
		cmp.Compare(len(a.Faults), len(b.Faults)),
		cmp.Compare(processCount(a), processCount(b)),
		slices.Compare(complexity(a), complexity(b)),
		cmp.Compare(a.Base, b.Base),
		strings.Compare(a.Key(), b.Key()),
	)
}

// processCount returns the number of clients and nodes of a world. If the world has those
// of its base, they count as more than any number to which they can be reduced.
func processCount(w runs.WorldSpec) int {
	c := w.Change
	size := len(c.Clients) + c.Nodes
	if c.Clients == nil {
		size += math.MaxInt16
	}
	if c.Nodes == 0 {
		size += math.MaxInt16
	}
	return size
}

// complexity returns numbers that show how hard it is to describe a world's faults. Greater numbers
// are harder, and earlier numbers count more. They are: unusual manners of faults and settings of
// disks, processes at the other end of faults, faults that strike at messages, digits of sizes, and
// the sizes.
func complexity(w runs.WorldSpec) []int {
	var others, messages, digits, size int
	special := len(w.Change.Persistence)
	for _, f := range w.Faults {
		if f.How() != "" {
			special++
		}
		others += len(f.Others())
		if !f.Strikes.When.IsZero() {
			messages++
		}
		digits += significantDigits(f.Size())
		size += int(f.Size().Time) + int(f.Size().Rate)
	}
	return []int{special, others, messages, digits, size}
}

// significantDigits returns the number of digits of a size without trailing zeros. It
// counts them in nanoseconds or in minutes, whichever has fewer.
func significantDigits(s sim.Size) int {
	size, fewest := s.Time+time.Duration(s.Rate), math.MaxInt
	for _, unit := range []time.Duration{time.Nanosecond, time.Minute} {
		if size%unit == 0 {
			fewest = min(fewest, len(strings.TrimRight(strconv.FormatInt(int64(size/unit), 10), "0")))
		}
	}
	return fewest
}
