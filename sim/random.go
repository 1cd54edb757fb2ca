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

// seedOf derives the seed of one random stream of a world from the world's seed and the
// stream's name. Streams with different names are independent: a draw from one never shifts
// another.
func seedOf(seed uint64, name string) [32]byte {
	return sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, seed), name...))
}

// seedLibraries seeds the global source of math/rand, from which libraries draw the jitter
// of their retries. A world is then the same whatever ran before it. The global source of
// math/rand/v2 cannot be seeded.
func seedLibraries(seed uint64) {
	// Seed does nothing without this setting.
	const setting = "randseednop=0"
	if debug := os.Getenv("GODEBUG"); !strings.Contains(debug, setting) {
		os.Setenv("GODEBUG", strings.TrimPrefix(debug+","+setting, ","))
	}
	//lint:ignore SA1019 a source of one's own does not reach other people's libraries
	v1.Seed(int64(seed))
}

// latencies returns the random stream of a link.
func latencies(seed uint64, from, to string) *rand.Rand {
	s := seedOf(seed, "link "+from+" "+to)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(s[:]), binary.BigEndian.Uint64(s[8:])))
}

// randomBytes returns the random bytes of a process, which several of its
// goroutines may read.
func randomBytes(seed uint64, process string) io.Reader {
	return &lockedReader{s: rand.NewChaCha8(seedOf(seed, "process "+process))}
}

type lockedReader struct {
	mu sync.Mutex
	s  *rand.ChaCha8
}

func (r *lockedReader) Read(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.s.Read(b)
}
