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

// An elector that waits for the lock retries after RetryPeriod times a random factor from 1
// to 2.2, which client-go draws from a source that all worlds of a program share. In a
// world each elector has a source of its own, seeded by its process's. Client-go's function
// has no argument that identifies the elector, so the goroutine does: each elector runs in
// one.
//
//go:linkname jitterRand k8s.io/apimachinery/pkg/util/wait.jitterRand
var jitterRand func() float64

// sources are the sources of the electors that run in worlds, by their goroutines.
var sources sync.Map

func init() {
	shared := jitterRand
	jitterRand = func() float64 {
		if own, ok := sources.Load(goroutineID()); ok {
			return own.(*rand.Rand).Float64()
		}
		return shared()
	}
}

// jitterSource makes the source from which an elector draws; nil means client-go's own.
func jitterSource(e *locks.Env) *rand.Rand {
	if e.WaitAfterTimer == nil {
		return nil
	}
	var seed [8]byte
	_, _ = io.ReadFull(e.Rand, seed[:]) // never fails
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(seed[:]), 0))
}

// withJitterSource calls run, in which an elector runs, and makes it draw from own.
func withJitterSource(own *rand.Rand, run func()) {
	if own != nil {
		id := goroutineID()
		sources.Store(id, own)
		defer sources.Delete(id)
	}
	run()
}

// goroutineID returns the number of the calling goroutine, from the first line of its
// stack.
func goroutineID() string {
	var line [40]byte
	number, _, _ := bytes.Cut(line[:runtime.Stack(line[:], false)], []byte(" ["))
	return string(number)
}
