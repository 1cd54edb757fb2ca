package explore

// A bloom is a Bloom filter (Burton H. Bloom, "Space/time trade-offs in hash coding with
// allowable errors", 1970): a set of hashes that needs the same memory whatever its size.
// It may report a hash that was not added. With 16,000 hashes, which is what a lane tries
// in a search of a million worlds, that happens for about one hash in 1,500.
type bloom [1 << (bloomBits - 6)]uint64

// bloomBits is the number of bits of a hash that select one bit of the set.
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
