package locks

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"time"
)

// Retry is a way to choose how long a client waits after a failed attempt to acquire a
// lock.
type Retry string

const (
	// Fixed always waits for the base interval. Clients that fail together try again
	// together.
	Fixed Retry = "fixed"
	// Jitter waits for the base interval on average: for any time between zero and twice the
	// interval. The Redis documentation asks for a random delay, because otherwise clients that
	// compete for the same nodes split the votes again and again. Jitter waits as long as Fixed
	// on average, so clients send about as many commands.
	Jitter Retry = "jitter"
	// Linear makes the pause longer by the base interval after every failure: one, two,
	// three intervals, up to the same limit as Exponential.
	Linear Retry = "linear"
	// Exponential doubles the pause after every failure: one, two, four base intervals, up
	// to a limit. The busier the lock, the fewer commands are sent, but clients that fail
	// together still try again together.
	Exponential Retry = "exponential"
	// ExponentialJitter pauses for any time up to the pause of Exponential. It is "full
	// jitter" in Marc Brooker's article "Exponential Backoff And Jitter" (AWS Architecture
	// Blog, 2015), which finds that clients need less work with it than with the other ways
	// that it compares.
	ExponentialJitter Retry = "exponential-jitter"
	// ExponentialTenth waits for the pause of Exponential plus up to a tenth of it: the
	// little jitter that is often written by hand.
	ExponentialTenth Retry = "exponential-tenth"
)

// Retries returns all ways to retry, the simplest first.
func Retries() []Retry {
	return []Retry{Fixed, Jitter, Linear, Exponential, ExponentialJitter, ExponentialTenth}
}

// maxRetryFactor is the longest pause before jitter, as a multiple of the base interval.
const maxRetryFactor = 32

// Pause returns how long to wait after a failed attempt, at least a nanosecond. failures is
// the number of failures in a row, counted from 1. base is the interval, from a nanosecond
// to a year; a shorter one counts as a nanosecond. If the pause is random, Pause reads
// eight bytes from random. It returns an error if r is unknown or random cannot be read.
func (r Retry) Pause(base time.Duration, failures int, random io.Reader) (time.Duration, error) {
	base = max(base, 1)
	switch r {
	case Fixed:
		return base, nil
	case Jitter:
		return randomUpTo(2*base-1, random)
	case Linear:
		return time.Duration(max(1, min(failures, maxRetryFactor))) * base, nil
	case Exponential:
		return exponentialPause(base, failures), nil
	case ExponentialJitter:
		return randomUpTo(exponentialPause(base, failures), random)
	case ExponentialTenth:
		pause := exponentialPause(base, failures)
		extra, err := randomUpTo(pause/10+1, random)
		return pause + extra - 1, err
	}
	return 0, fmt.Errorf("%q is not a way to retry: it must be one of %v", string(r), Retries())
}

// exponentialPause returns base, doubled for every failure after the first, up to
// maxRetryFactor times base.
func exponentialPause(base time.Duration, failures int) time.Duration {
	factor := time.Duration(1)
	for range failures - 1 {
		if factor *= 2; factor >= maxRetryFactor {
			return maxRetryFactor * base
		}
	}
	return factor * base
}

// randomUpTo draws a time from 1 ns to longest, all equally likely.
func randomUpTo(longest time.Duration, random io.Reader) (time.Duration, error) {
	var b [8]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return 0, fmt.Errorf("cannot draw a random pause before the next attempt: %w", err)
	}
	// The upper half of the product is an integer from 0 to longest-1.
	nth, _ := bits.Mul64(binary.BigEndian.Uint64(b[:]), uint64(longest))
	return time.Duration(nth) + 1, nil
}
