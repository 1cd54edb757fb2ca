package sim

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// ErrStuck is wrapped by the error of a world that stopped making progress in real time.
// Some goroutine computes without end, or waits for a mutex that is held across I/O, so
// virtual time can never pass.
var ErrStuck = errors.New("the world is stuck")

// ErrLeak is wrapped by the error of a world that left goroutines behind.
var ErrLeak = errors.New("goroutines outlived the world")

// ErrPanic is wrapped by the error of a world in which a client panicked.
var ErrPanic = errors.New("panic")

// errStillLate is the [ErrLate] of a world that still runs although it was asked to end.
var errStillLate = fmt.Errorf("%w", ErrLate)

// errStillHeavy is the [ErrHeavy] of a world that still runs although it was asked to end.
var errStillHeavy = fmt.Errorf("%w: it was asked to end when the process used %d MB more than before, and %v later it still computes, so its result is unknown; make the lock's own code use less memory",
	ErrHeavy, maxMemory>>20, endGrace)

// errHeavyLeftovers is the [ErrHeavy] of a world that ended and left too much memory in
// use.
var errHeavyLeftovers = fmt.Errorf("%w: it ended but left goroutines behind, and the process uses %d MB more than before; make the lock's own code end its goroutines, and start fewer",
	ErrHeavy, maxMemory>>20)

// minStillTime is how long a bubble may stand still at least, however short its patience
// is. On a busy machine nothing may run for a while.
const minStillTime = time.Second

// endGrace is how much longer than its patience a bubble may take to end by itself.
const endGrace = time.Second

// A watchdog observes a bubble from outside, in real time.
type watchdog struct {
	// moves counts the steps that the bubble makes.
	moves atomic.Int64
	// isLate reports that the bubble has used all its time, and isHeavy that the process
	// uses too much memory. In both cases the bubble should end.
	isLate, isHeavy atomic.Bool
}

// inBubble runs f in a testing/synctest bubble, where time is virtual: it passes only while
// every goroutine of the bubble waits.
//
// A bubble that has used its patience of real time is late, and has one more second to end.
// If it does not end, inBubble returns an error that wraps ErrLate, and the bubble's
// goroutines remain until it ends. The same holds for a bubble in which the process uses
// too much memory; that error wraps ErrHeavy.
//
// The bubble must move at least once in every half of its patience, or in every
// [minStillTime] if that is longer. Otherwise inBubble returns an error that wraps ErrStuck
// and shows the bubble's goroutines, which remain.
//
// synctest is made for tests. But its Test needs nothing of the T except somewhere to
// report a failure, so it works in any program. A test of this package would notice if a Go
// release changed that.
func inBubble(patience time.Duration, dog *watchdog, f func()) error {
	done := make(chan error, 1)
	go func() {
		var failed error
		// A deadlock in the bubble, or goroutines that remain in it, make synctest.Test
		// panic in its caller.
		defer func() {
			r := recover()
			switch {
			case failed != nil: // the panic left the remaining goroutines waiting
				done <- failed
			case r != nil:
				done <- &ErrorWithStacks{fmt.Errorf("%w: %v; their stacks are below", ErrLeak, r), goroutines(func(head string) bool {
					return strings.Contains(head, "synctest bubble")
				})}
			default:
				done <- nil
			}
		}()
		synctest.Test(new(testing.T), func(*testing.T) {
			// A panic in the function of the bubble would end the program.
			defer func() {
				if r := recover(); r != nil {
					buf := make([]byte, 16<<10)
					failed = newPanicError("the simulator", r, buf[:runtime.Stack(buf, false)])
				}
			}()
			f()
		})
	}()

	weight := newScale()
	defer weight.close()
	last := dog.moves.Load()
	stillLimit := max(patience/2, minStillTime)
	// The bubble is checked more often than that. Otherwise one that moved just after a
	// check could stand still for almost twice as long.
	const checksPerStill = 4
	moveCheck := time.NewTicker(stillLimit / checksPerStill)
	defer moveCheck.Stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	memoryCheck := time.NewTicker(lookEvery)
	defer memoryCheck.Stop()
	for unmoved := 0; ; {
		select {
		case err := <-done:
			// A bubble may end before anybody has measured its memory.
			if errors.Is(err, ErrLeak) && weight.isTooHeavy() {
				return errHeavyLeftovers
			}
			return err
		case <-memoryCheck.C:
			if weight.isTooHeavy() {
				memoryCheck.Stop()
				dog.isHeavy.Store(true)
				deadline.Reset(endGrace)
			}
		case <-deadline.C:
			if dog.isHeavy.Load() {
				return errStillHeavy
			}
			if !dog.isLate.Swap(true) {
				deadline.Reset(max(endGrace, 2*stillLimit-patience)) // a short patience must not hide that the bubble stands still
				continue
			}
			return fmt.Errorf("%w: it was asked to end after %v of real time, and %v later it still computes, so its result is unknown; make it smaller, or give it more time",
				errStillLate, patience, endGrace)
		case <-moveCheck.C:
			now := dog.moves.Load()
			unmoved++
			if now != last {
				unmoved = 0
			}
			if unmoved == checksPerStill && !dog.isHeavy.Load() {
				return &ErrorWithStacks{fmt.Errorf("%w: it made no progress for %v of real time; the goroutines to blame are among those below", ErrStuck, stillLimit), goroutines(func(head string) bool {
					// The other goroutines are in the state that synctest calls durably
					// blocked.
					return strings.Contains(head, "synctest bubble") && !strings.Contains(head, "durable")
				})}
			}
			last = now
		}
	}
}

// goroutines returns the stacks of those goroutines whose first line is wanted.
func goroutines(wanted func(head string) bool) string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var found []string
	for _, g := range strings.Split(string(buf), "\n\n") {
		head, _, _ := strings.Cut(g, "\n")
		if wanted(head) {
			found = append(found, g)
		}
	}
	return strings.Join(found, "\n\n")
}
