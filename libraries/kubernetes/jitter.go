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

// An elector that waits for the lock tries again after RetryPeriod and up to 1.2 times as much
// more, which client-go draws from a source that all worlds of a program share. In a world an
// elector has a source of its own, made of its process's. Client-go's function is told nothing,
// so whose draw it is follows from the goroutine: each elector runs in one.
//
//go:linkname jitterRand k8s.io/apimachinery/pkg/util/wait.jitterRand
var jitterRand func() float64

// sources are those of the electors that run in worlds, by their goroutines.
var sources sync.Map

func init() {
	shared := jitterRand
	jitterRand = func() float64 {
		if own, ok := sources.Load(goroutine()); ok {
			return own.(*rand.Rand).Float64()
		}
		return shared()
	}
}

// A source is what an elector draws from; nil is client-go's.
func source(e *locks.Env) *rand.Rand {
	if e.Woken == nil {
		return nil
	}
	var seed [8]byte
	_, _ = io.ReadFull(e.Rand, seed[:]) // never fails
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(seed[:]), 0))
}

// drawing calls run, an elector's, with a source.
func drawing(own *rand.Rand, run func()) {
	if own != nil {
		me := goroutine()
		sources.Store(me, own)
		defer sources.Delete(me)
	}
	run()
}

// goroutine is the number of the calling goroutine, as the first line of its stack has it.
func goroutine() string {
	var line [40]byte
	number, _, _ := bytes.Cut(line[:runtime.Stack(line[:], false)], []byte(" ["))
	return string(number)
}
