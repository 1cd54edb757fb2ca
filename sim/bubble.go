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

// ErrStuck is wrapped by the error of a world that stopped making progress. Virtual time
// passes only while every goroutine waits for I/O, a timer or a channel. In a stuck world
// some goroutine computes without end, or waits for a mutex for ever.
var ErrStuck = errors.New("the world is stuck")

// ErrMutex is wrapped by the error of a world that cannot continue because of a limit of the
// simulator: a goroutine waits for a mutex whose owner seems to wait for I/O. In reality the
// I/O would end; here virtual time does not pass while a goroutine waits for a mutex. The
// error says nothing about the lock.
var ErrMutex = errors.New("virtual time cannot pass")

// ErrLeak is wrapped by the error of a world whose clients left goroutines that did not end with
// the world.
var ErrLeak = errors.New("goroutines outlived the world")

// ErrPanic is wrapped by the error of a world in which a client panicked.
var ErrPanic = errors.New("panic")

// errStillLate is the [ErrLate] of a world that still runs although it was asked to end.
var errStillLate = fmt.Errorf("%w", ErrLate)

// errStillHeavy is the [ErrHeavy] of a world that still runs although it was asked to end.
var errStillHeavy = fmt.Errorf("%w: it was asked to end when the process used %d MB more than before, and %v later it is still running, so its result is unknown; make the lock's own code use less memory",
	ErrHeavy, maxMemoryGrowth>>20, endGrace)

// errHeavyLeftovers is the [ErrHeavy] of a world that ended by itself but left too much memory
// in use.
var errHeavyLeftovers = fmt.Errorf("%w: it ended but left goroutines behind, and the process uses %d MB more than before; make the lock's own code end its goroutines, and start fewer",
	ErrHeavy, maxMemoryGrowth>>20)

// minStillTime is the shortest time without progress after which a bubble (see [inBubble]) counts
// as stuck, even if it may take only a short real time. On a busy machine, the operating system may
// let none of the bubble's goroutines run for a while.
const minStillTime = time.Second

// endGrace is how much time a bubble gets at least to end by itself after it was asked to end.
const endGrace = time.Second

// A watchdog connects a bubble with the goroutine of [inBubble], which observes the bubble
// from outside, in real time.
type watchdog struct {
	// steps counts the steps of the world's progress.
	steps atomic.Int64
	// isLate reports that the bubble has used all its real time. isHeavy reports that the
	// process uses too much memory. In both cases the bubble must end.
	isLate, isHeavy atomic.Bool
	// bubble is the name of the bubble on the stacks of its goroutines.
	bubble atomic.Value
}

// inBubble runs f in a testing/synctest bubble, and observes the bubble in real time. In a bubble
// time is virtual: time passes only while every goroutine of the bubble waits.
//
// A bubble that runs longer than patience, in real time, is asked to end, and gets at least another
// second to do so. If it still runs then, inBubble returns an error that wraps ErrLate, and the
// bubble's goroutines keep running. If the process uses too much memory, inBubble does the same
// with an error that wraps ErrHeavy.
//
// If the watchdog counts no step for half of patience, or for [minStillTime] if that is
// longer, inBubble returns an error that wraps ErrStuck and contains the stacks of the
// goroutines to blame, or an error that wraps ErrMutex. The bubble's goroutines keep
// running.
//
// synctest is made for tests, but synctest.Test also works in other programs with an empty
// testing.T. A test of this package fails if a Go release changes that.
func inBubble(patience time.Duration, dog *watchdog, f func()) error {
	done := make(chan error, 1)
	go func() {
		var failed error
		// synctest.Test panics if the bubble has a deadlock, or if goroutines remain in it.
		defer func() {
			r := recover()
			switch {
			case failed != nil: // goroutines remain only because f panicked and did not end them
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
			var head [128]byte
			dog.bubble.Store(bubbleOf(string(head[:runtime.Stack(head[:], false)])))
			// Without this recover, a panic of f would end the whole program.
			defer func() {
				if r := recover(); r != nil {
					buf := make([]byte, 16<<10)
					failed = newPanicError("the simulator", r, buf[:runtime.Stack(buf, false)])
				}
			}()
			f()
		})
	}()

	memory := newMemoryMeter()
	defer memory.close()
	lastSteps := dog.steps.Load()
	stillLimit := max(patience/2, minStillTime)
	// The steps are checked several times within stillLimit. With one check, a bubble that
	// made its last step just after the check would be reported only after almost twice
	// stillLimit.
	const checksPerStill = 4
	stepCheck := time.NewTicker(stillLimit / checksPerStill)
	defer stepCheck.Stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	memoryCheck := time.NewTicker(memoryCheckInterval)
	defer memoryCheck.Stop()
	for checksWithoutStep := 0; ; {
		select {
		case err := <-done:
			// The bubble may have ended before the first check of the memory.
			if errors.Is(err, ErrLeak) && memory.isTooHeavy() {
				return errHeavyLeftovers
			}
			return err
		case <-memoryCheck.C:
			if memory.isTooHeavy() {
				memoryCheck.Stop()
				dog.isHeavy.Store(true)
				deadline.Reset(endGrace)
			}
		case <-deadline.C:
			if dog.isHeavy.Load() {
				return errStillHeavy
			}
			if !dog.isLate.Swap(true) {
				deadline.Reset(max(endGrace, 2*stillLimit-patience)) // even with a short patience there must be time to find out that the bubble is stuck
				continue
			}
			return fmt.Errorf("%w: it was asked to end after %v of real time, and %v later it is still running, so its result is unknown; make it smaller, or give it more time",
				errStillLate, patience, endGrace)
		case <-stepCheck.C:
			steps := dog.steps.Load()
			checksWithoutStep++
			if steps != lastSteps {
				checksWithoutStep = 0
			}
			if checksWithoutStep == checksPerStill && !dog.isHeavy.Load() {
				return dog.standstillError(stillLimit)
			}
			lastSteps = steps
		}
	}
}

// standstillError returns the error of a bubble that made no progress for some real time.
func (dog *watchdog) standstillError(standstill time.Duration) error {
	all := strings.Split(goroutines(func(head string) bool { return bubbleOf(head) == dog.bubble.Load() }), "\n\n")
	var toBlame []string
	for _, stack := range all {
		// A goroutine that synctest calls durably blocked only waits, so it is not to blame.
		if head, _, _ := strings.Cut(stack, "\n"); !strings.Contains(head, "durable") && !strings.Contains(stack, "internal/synctest.Run(") {
			toBlame = append(toBlame, stack)
		}
	}
	if len(toBlame) == 0 {
		toBlame = all // a goroutine that sleeps again and again is caught while it sleeps
	}
	if code := waitedMutex(toBlame, all); code != "" {
		return fmt.Errorf("%w: a goroutine waits for a sync.Mutex of %s, and another goroutine seems to hold that mutex while it waits for the network; the simulator cannot run this, so the result is unknown", ErrMutex, code)
	}
	return &ErrorWithStacks{fmt.Errorf("%w: it made no progress for %v of real time; the goroutines to blame are among those below", ErrStuck, standstill), strings.Join(toBlame, "\n\n")}
}

// maxStacks is how many bytes of stacks are read at most.
const maxStacks = 64 << 20

// goroutines returns the stacks of the goroutines of this process for whose first line the function
// wanted returns true.
func goroutines(wanted func(head string) bool) string {
	buf := make([]byte, 1<<20)
	n := runtime.Stack(buf, true)
	for n == len(buf) && n < maxStacks { // it was cut off
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, true)
	}
	buf = buf[:n]
	var found []string
	for _, g := range strings.Split(string(buf), "\n\n") {
		head, _, _ := strings.Cut(g, "\n")
		if wanted(head) {
			found = append(found, g)
		}
	}
	return strings.Join(found, "\n\n")
}
