package explore

// A bloom is a Bloom filter (Burton H. Bloom, "Space/time trade-offs in hash coding with
// allowable errors", 1970): a set of hashes whose memory does not grow. The price is that it
// may report a hash that was not added. In a search of a million worlds each [lane], a part of
// the search with its own filters, adds about 16,000 hashes. Then the method has is wrong for
// about one hash in 1,500.
type bloom [1 << (bloomBits - 6)]uint64

// bloomBits is how many bits of a hash select one bit of the filter.
const bloomBits = 19

// add adds a hash to the set.
func (b *bloom) add(hash uint64) {
	for _, i := range bloomPlaces(hash) {
		b[i>>6] |= 1 << (i & 63)
	}
}

// has reports whether a hash was added. Rarely it returns true for a hash that was not.
func (b *bloom) has(hash uint64) bool {
	for _, i := range bloomPlaces(hash) {
		if b[i>>6]&(1<<(i&63)) == 0 {
			return false
		}
	}
	return true
}

// bloomPlaces returns the three bits of the filter that represent a hash.
func bloomPlaces(hash uint64) [3]uint64 {
	const mask = 1<<bloomBits - 1
	return [3]uint64{hash & mask, hash >> bloomBits & mask, hash >> (2 * bloomBits) & mask}
}
