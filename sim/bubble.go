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

// ErrStuck is wrapped by the error of a world that stopped making progress in
// real time: some goroutine computes without end, or waits for a mutex that is
// held across I/O, so that virtual time can never pass.
var ErrStuck = errors.New("the world is stuck")

// ErrLeak is wrapped by the error of a world that left goroutines behind.
var ErrLeak = errors.New("goroutines outlived the world")

// ErrPanic is wrapped by the error of a world in which a client panicked.
var ErrPanic = errors.New("panic")

// errAbandoned is the [ErrLate] of a world that goes on although it is late.
var errAbandoned = fmt.Errorf("%w", ErrLate)

// errHeavyOn is the [ErrHeavy] of a world that goes on although it was told to end.
var errHeavyOn = fmt.Errorf("%w: it was told to end when the process had taken %d MB more than before, and %v later it still computes, so nothing is known of it; let the lock's own code take less memory",
	ErrHeavy, mostMemory>>20, orderly)

// errHeavyLeft is the [ErrHeavy] of a world that came to its end and left too much behind.
var errHeavyLeft = fmt.Errorf("%w: it came to its end and left goroutines behind, with which the process takes %d MB more than before; let the lock's own code end its goroutines, and start fewer",
	ErrHeavy, mostMemory>>20)

// leastStill is for how long a bubble may stand still however little patience there is: on a
// machine with much else to do nothing may run for a while.
const leastStill = time.Second

// orderly is how much longer than its patience a bubble may take to come to its end in
// order.
const orderly = time.Second

// A watchdog looks after a bubble from outside, in real time.
type watchdog struct {
	// moves counts what the bubble does.
	moves atomic.Int64
	// late says that the bubble has taken all its time, and heavy that the process has taken
	// too much memory: the bubble should come to its end.
	late, heavy atomic.Bool
}

// inBubble runs f in a testing/synctest bubble, where time is virtual: it
// passes only while every goroutine of the bubble waits. When the bubble has taken
// patience of real time it is late, and has a second to come to its end; if it does not,
// inBubble gives up on it with an error that wraps ErrLate, and its goroutines remain until
// it does. The same goes for one in which the process takes too much memory; the error
// wraps ErrHeavy. It must move at least once in every half of that, or in
// [leastStill] if that is longer, before and after; if it does not, inBubble gives up on it. Its goroutines then
// remain, and the error wraps ErrStuck and shows them.
//
// synctest is made for tests but its Test needs nothing of the T except
// somewhere to report a failure, so it works in any program; a test of this
// package would notice if a Go release changed that.
func inBubble(patience time.Duration, alive *watchdog, f func()) error {
	done := make(chan error, 1)
	go func() {
		var failed error
		// A deadlock in the bubble, and goroutines that remain in it, end
		// synctest.Test with a panic in its caller.
		defer func() {
			r := recover()
			switch {
			case failed != nil: // those that it has left waiting remain because of it
				done <- failed
			case r != nil:
				done <- &Stacked{fmt.Errorf("%w: %v; they are below", ErrLeak, r), goroutines(func(head string) bool {
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
					failed = panicked("the simulator", r, buf[:runtime.Stack(buf, false)])
				}
			}()
			f()
		})
	}()

	weight := newScale()
	defer weight.close()
	last := alive.moves.Load()
	still := max(patience/2, leastStill)
	// It is looked at more often than that, so as not to wait twice as long for one that
	// moved just after a look.
	const often = 4
	tick := time.NewTicker(still / often)
	defer tick.Stop()
	out := time.NewTimer(patience)
	defer out.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for unmoved := 0; ; {
		select {
		case err := <-done:
			// A bubble may end before anybody has looked at what it takes.
			if errors.Is(err, ErrLeak) && weight.tooHeavy() {
				return errHeavyLeft
			}
			return err
		case <-look.C:
			if weight.tooHeavy() {
				look.Stop()
				alive.heavy.Store(true)
				out.Reset(orderly)
			}
		case <-out.C:
			if alive.heavy.Load() {
				return errHeavyOn
			}
			if !alive.late.Swap(true) {
				out.Reset(max(orderly, 2*still-patience)) // a short patience must not hide that it stands still
				continue
			}
			return fmt.Errorf("%w: after %v of real time it was told to end, and %v later it still computes, so nothing is known of it; let less happen in it, or give it longer",
				errAbandoned, patience, orderly)
		case <-tick.C:
			now := alive.moves.Load()
			unmoved++
			if now != last {
				unmoved = 0
			}
			if unmoved == often && !alive.heavy.Load() {
				return &Stacked{fmt.Errorf("%w: nothing moved for %v of real time; the goroutines to blame are among those below", ErrStuck, still), goroutines(func(head string) bool {
					// The others are what synctest calls durably blocked.
					return strings.Contains(head, "synctest bubble") && !strings.Contains(head, "durable")
				})}
			}
			last = now
		}
	}
}

// goroutines shows the stacks of those goroutines whose first line is wanted.
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
