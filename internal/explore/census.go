package explore

import "maps"

// A census counts how many different behaviours sets of each size have shown that no
// smaller set has, or how many different sets there were of each size. It does not depend on
// the order in which they are seen, and takes no more memory the more there are: beyond
// mostCounted it counts a sample.
type census struct {
	// fewest is the smallest number of faults with which a behaviour was seen.
	fewest map[uint64]int
	// Behaviours are hashes; only those are counted whose last bits, so many, are 0.
	bits int
}

// mostCounted is a variable for the sake of the tests.
var mostCounted = 1 << 18

func newCensus() *census { return &census{fewest: map[uint64]int{}} }

func (c *census) counts(behaviour uint64) bool { return behaviour&(1<<c.bits-1) == 0 }

// isSample says whether the counts are estimates.
func (c *census) isSample() bool { return c.bits > 0 }

// see takes in that so many faults have shown a behaviour.
func (c *census) see(behaviour uint64, faults int) {
	if !c.counts(behaviour) {
		return
	}
	if n, known := c.fewest[behaviour]; known && n <= faults {
		return
	}
	c.fewest[behaviour] = faults
	for len(c.fewest) > mostCounted {
		c.bits++
		maps.DeleteFunc(c.fewest, func(b uint64, _ int) bool { return !c.counts(b) })
	}
}

// count is how many behaviours take so many faults at least.
func (c *census) count(faults int) int {
	n := 0
	for _, fewest := range c.fewest {
		if fewest == faults {
			n++
		}
	}
	return n << c.bits
}
