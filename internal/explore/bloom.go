package explore

// A bloom is a set of hashes that takes the same memory however many it has: a Bloom
// filter (Burton H. Bloom, "Space/time trade-offs in hash coding with allowable errors",
// 1970). It may take one that it does not have for one that it has: when it has 16,000,
// which is what a lane tries of a million worlds, one in about 1,500.
type bloom [1 << (bloomBits - 6)]uint64

// bloomBits is how many bits of a hash choose one bit of the set.
const bloomBits = 19

func (b *bloom) add(hash uint64) {
	for _, i := range bloomPlaces(hash) {
		b[i>>6] |= 1 << (i & 63)
	}
}

func (b *bloom) has(hash uint64) bool {
	for _, i := range bloomPlaces(hash) {
		if b[i>>6]&(1<<(i&63)) == 0 {
			return false
		}
	}
	return true
}

func bloomPlaces(hash uint64) [3]uint64 {
	const mask = 1<<bloomBits - 1
	return [3]uint64{hash & mask, hash >> bloomBits & mask, hash >> (2 * bloomBits) & mask}
}
