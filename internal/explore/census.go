package explore

import "maps"

// A census counts, for each number of faults, the behaviours that no smaller set of faults
// has shown. It also counts the different sets of each size. Its result does not depend on
// the order of the input. Beyond maxCounted entries it counts a sample, so its memory is
// bounded.
type census struct {
	// fewest is the smallest number of faults that has shown each behaviour.
	fewest map[uint64]int
	// bits is the sample: only behaviours (hashes) whose last bits are 0 are counted.
	bits int
}

// maxCounted is a variable so that tests can set it.
var maxCounted = 1 << 18

func newCensus() *census { return &census{fewest: map[uint64]int{}} }

func (c *census) inSample(behaviour uint64) bool { return behaviour&(1<<c.bits-1) == 0 }

// isSample reports whether the counts are estimates.
func (c *census) isSample() bool { return c.bits > 0 }

// add records that a set of so many faults has shown a behaviour.
func (c *census) add(behaviour uint64, faults int) {
	if !c.inSample(behaviour) {
		return
	}
	if n, known := c.fewest[behaviour]; known && n <= faults {
		return
	}
	c.fewest[behaviour] = faults
	for len(c.fewest) > maxCounted {
		c.bits++
		maps.DeleteFunc(c.fewest, func(b uint64, _ int) bool { return !c.inSample(b) })
	}
}

// count returns the number of behaviours that need at least so many faults.
func (c *census) count(faults int) int {
	n := 0
	for _, fewest := range c.fewest {
		if fewest == faults {
			n++
		}
	}
	return n << c.bits
}
