package explore

import (
	"math/rand/v2"
	"testing"
)

// An observation is what a census counts: a behaviour, and the number of faults in the
// world that has shown it.
type observation struct {
	behaviour uint64
	faults    int
}

// countObservations returns a census of the observations, and its counts for one, two and
// three faults.
func countObservations(sights []observation) (c *census, counts [3]int) {
	c = newCensus()
	for _, s := range sights {
		c.add(s.behaviour, s.faults)
	}
	return c, [3]int{c.count(1), c.count(2), c.count(3)}
}

func TestCensusDoesNotDependOnTheOrder(t *testing.T) {
	// Two of these behaviours need one fault, one needs two faults and one needs three.
	sights := []observation{{1, 1}, {1, 2}, {2, 3}, {2, 1}, {3, 2}, {3, 3}, {3, 3}, {4, 3}}
	for range 100 {
		rand.Shuffle(len(sights), func(i, k int) { sights[i], sights[k] = sights[k], sights[i] })
		if _, got := countObservations(sights); got != [3]int{2, 1, 1} {
			t.Fatalf("%v shows %v, want [2 1 1]", sights, got)
		}
	}
}

// A census of more behaviours than it can keep estimates their number. The estimate does not
// depend on the order.
func TestCensusEstimates(t *testing.T) {
	defer func(most int) { maxCounted = most }(maxCounted)
	maxCounted = 1000
	const each = 20_000
	random := rand.New(rand.NewPCG(1, 2))
	var sights []observation
	for range each {
		// Half of all behaviours need two faults, and the other half three. All of them are
		// also seen with three.
		one, other := random.Uint64(), random.Uint64()
		sights = append(sights, observation{one, 2}, observation{one, 3}, observation{other, 3})
	}
	_, first := countObservations(sights)
	for n, got := range first[1:] {
		// The census keeps 500 to 1000 behaviours, so 250 to 500 of each half. Five
		// standard deviations of so many are less than a third.
		if got < each*2/3 || got > each*4/3 {
			t.Errorf("the census counts %d behaviours that need %d faults, want about %d", got, n+2, each)
		}
	}
	for range 5 {
		random.Shuffle(len(sights), func(i, k int) { sights[i], sights[k] = sights[k], sights[i] })
		c, got := countObservations(sights)
		if got != first {
			t.Errorf("in another order the census counts %v, want %v", got, first)
		}
		if len(c.fewestFaults) > maxCounted {
			t.Errorf("the census keeps %d behaviours, want at most %d", len(c.fewestFaults), maxCounted)
		}
	}
}
