package sim

import (
	crypto "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"io"
	v1 "math/rand"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
)

// seedOf returns the seed of one random source of a world, from the world's seed and the
// source's name. Each part of a world has its own source, so an additional draw in one part
// does not change the numbers of another.
func seedOf(seed uint64, name string) [32]byte {
	return sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, seed), name...))
}

// seedLibraries seeds the global sources of math/rand and crypto/rand, from which locks draw the
// jitter of their retries and the values of their keys. So a world gives the same trace whatever
// ran earlier in this process, if no other world runs at the same time. The caller calls end at the
// end of the world: then crypto/rand is random again. The global source of math/rand/v2 cannot be
// seeded.
func seedLibraries(seed uint64) (end func()) {
	// Seed does nothing without this setting of GODEBUG.
	const setting = "randseednop=0"
	if debug := os.Getenv("GODEBUG"); !strings.Contains(debug, setting) {
		os.Setenv("GODEBUG", strings.TrimPrefix(debug+","+setting, ","))
	}
	//lint:ignore SA1019 a source of one's own does not reach other people's libraries
	v1.Seed(int64(seed))
	cryptoRandom.begin(rand.NewChaCha8(seedOf(seed, "crypto/rand")))
	return cryptoRandom.end
}

// cryptoRandom is the source of crypto/rand from the first world of this process on.
var cryptoRandom cryptoSource

// A cryptoSource is a source of random bytes that is seeded while worlds run. Outside of
// worlds it is the source that crypto/rand had before.
type cryptoSource struct {
	mu sync.Mutex
	// own is the source that crypto/rand had before; nil before the first world.
	own io.Reader
	// worlds is how many worlds run. seeded is the source that they share.
	worlds int
	seeded io.Reader
}

// begin seeds the source for a world, unless another world runs. A source that is in use must not
// start again: two clients would draw the same value, and each could mistake the key of the other
// for its own.
func (s *cryptoSource) begin(seeded io.Reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own == nil {
		s.own, crypto.Reader = crypto.Reader, s
	}
	if s.worlds == 0 {
		s.seeded = seeded
	}
	s.worlds++
}

// end is called when a world ends.
func (s *cryptoSource) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.worlds--
}

// Read returns random bytes. It is called by several goroutines.
func (s *cryptoSource) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.worlds > 0 {
		return s.seeded.Read(b)
	}
	return s.own.Read(b)
}

// newLatencySource returns the random source of a link's latencies.
func newLatencySource(seed uint64, from, to string) *rand.Rand {
	s := seedOf(seed, "link "+from+" "+to)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(s[:]), binary.BigEndian.Uint64(s[8:])))
}

// randomBytes returns the random source of a process. Several goroutines may read it.
func randomBytes(seed uint64, process string) io.Reader {
	return &lockedReader{s: rand.NewChaCha8(seedOf(seed, "process "+process))}
}

// A lockedReader is a random source for several goroutines.
type lockedReader struct {
	mu sync.Mutex
	s  *rand.ChaCha8
}

func (r *lockedReader) Read(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.s.Read(b)
}
