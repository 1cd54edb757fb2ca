package explore

import "maps"

// A census counts behaviours by the number of faults that they need: the smallest number of
// faults in a world that has shown the behaviour. A behaviour is the hash of what happened
// in a run. A search also uses a census to count the different sets of faults by their
// size. The result does not depend on the order in which entries are added. Beyond
// maxCounted entries the census counts only a sample, so its memory is limited.
type census struct {
	// fewestFaults has, for each behaviour, the smallest number of faults that has shown
	// it.
	fewestFaults map[uint64]int
	// bits defines the sample: only the hashes whose last bits are all 0 are counted.
	bits int
}

// maxCounted is how many entries a census counts before it counts only a sample. It is a variable
// so that tests can set it.
var maxCounted = 1 << 18

func newCensus() *census { return &census{fewestFaults: map[uint64]int{}} }

// inSample reports whether a behaviour is one of those that are counted.
func (c *census) inSample(behaviour uint64) bool { return behaviour&(1<<c.bits-1) == 0 }

// isSample reports whether the counts are estimates.
func (c *census) isSample() bool { return c.bits > 0 }

// add records that a world with this number of faults has shown a behaviour.
func (c *census) add(behaviour uint64, faults int) {
	if !c.inSample(behaviour) {
		return
	}
	if n, known := c.fewestFaults[behaviour]; known && n <= faults {
		return
	}
	c.fewestFaults[behaviour] = faults
	for len(c.fewestFaults) > maxCounted {
		c.bits++
		maps.DeleteFunc(c.fewestFaults, func(b uint64, _ int) bool { return !c.inSample(b) })
	}
}

// count returns the number of behaviours that need exactly this number of faults. It is an estimate
// if isSample.
func (c *census) count(faults int) int {
	n := 0
	for _, fewest := range c.fewestFaults {
		if fewest == faults {
			n++
		}
	}
	return n << c.bits
}
