package kubernetes

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	_ "unsafe" // for go:linkname

	_ "k8s.io/apimachinery/pkg/util/wait"

	"github.com/locksim/locksim/locks"
)

// jitterRand is the function from which client-go draws random numbers from 0 to 1. An
// elector that waits for the lock uses them: it retries after RetryPeriod times a random
// factor from 1 to 2.2.
//
// client-go draws from a source that the whole program shares, so two runs of one world (a
// simulation) would differ. Therefore each elector in a world has a source of its own, which
// follows from the seed. jitterRand has no argument that identifies the elector, but each elector
// runs in one goroutine, so the source is found by the goroutine.
//
//go:linkname jitterRand k8s.io/apimachinery/pkg/util/wait.jitterRand
var jitterRand func() float64

// sources has the sources of the electors that run in worlds, by the numbers of their
// goroutines.
var sources sync.Map

// init replaces client-go's function.
func init() {
	shared := jitterRand
	jitterRand = func() float64 {
		if own, ok := sources.Load(goroutineID()); ok {
			return own.(*rand.Rand).Float64()
		}
		return shared()
	}
}

// jitterSource makes the source for an elector. It is nil outside of a world, where
// electors draw from client-go's own source.
func jitterSource(e *locks.Env) *rand.Rand {
	if e.WaitAfterTimer == nil {
		return nil
	}
	var seed [8]byte
	_, _ = io.ReadFull(e.Rand, seed[:]) // never fails
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(seed[:]), 0))
}

// withJitterSource calls run, which runs an elector, and makes that elector draw from own.
// If own is nil, it draws from client-go's source.
func withJitterSource(own *rand.Rand, run func()) {
	if own != nil {
		id := goroutineID()
		sources.Store(id, own)
		defer sources.Delete(id)
	}
	run()
}

// goroutineID returns the number of the calling goroutine, as in the first line of its
// stack trace.
func goroutineID() string {
	var line [40]byte
	number, _, _ := bytes.Cut(line[:runtime.Stack(line[:], false)], []byte(" ["))
	return string(number)
}
