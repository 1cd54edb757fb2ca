package sim

import (
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

// seedLibraries seeds the global source of math/rand, from which libraries draw the jitter
// of their retries. So a world gives the same trace whatever ran before it in this process.
// The global source of math/rand/v2 cannot be seeded.
func seedLibraries(seed uint64) {
	// Seed does nothing without this setting of GODEBUG.
	const setting = "randseednop=0"
	if debug := os.Getenv("GODEBUG"); !strings.Contains(debug, setting) {
		os.Setenv("GODEBUG", strings.TrimPrefix(debug+","+setting, ","))
	}
	//lint:ignore SA1019 a source of one's own does not reach other people's libraries
	v1.Seed(int64(seed))
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
