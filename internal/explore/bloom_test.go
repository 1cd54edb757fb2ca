package explore

import (
	"math/rand/v2"
	"testing"
)

// A Bloom filter has every hash that was added, and few others.
func TestBloom(t *testing.T) {
	const many = 16_000
	random := rand.New(rand.NewPCG(3, 4))
	var b bloom
	var has []uint64
	for range many {
		hash := random.Uint64()
		b.add(hash)
		has = append(has, hash)
	}
	for _, hash := range has {
		if !b.has(hash) {
			t.Fatalf("the filter does not have %x, which was added", hash)
		}
	}
	// Each of a hash's three bits is set with a probability of 1 - exp(-3*16,000/2^19) =
	// 0.0875. All three are set with a probability of 0.00067, which is 67 in 100,000.
	wrong := 0
	for range 100_000 {
		if b.has(random.Uint64()) {
			wrong++
		}
	}
	if wrong < 30 || wrong > 110 { // more than five standard deviations from 67
		t.Errorf("the filter has %d of 100,000 hashes that were not added, want about 67", wrong)
	}
}
