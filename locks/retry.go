package locks

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"time"
)

// Retry is a way to choose the pause after a failed attempt to get a lock.
type Retry string

const (
	// Fixed always pauses for the base interval. Clients that fail together try
	// again together.
	Fixed Retry = "fixed"
	// Jitter pauses for the base interval on average, and for any time between
	// nothing and twice that. The Redis documentation asks for a random delay, so
	// that clients which compete for the same nodes do not split the votes again
	// and again. With the same average as Fixed it sends as many commands; with
	// the widest spread there is around it, clients drift apart the soonest.
	Jitter Retry = "jitter"
	// Linear pauses longer by the base interval after every failure: once, twice,
	// three times the base interval, up to the limit of Exponential.
	Linear Retry = "linear"
	// Exponential doubles the pause after every failure: the base interval, then
	// twice, four times that, up to a limit. The busier the lock the fewer the
	// commands, but clients that fail together still try again together.
	Exponential Retry = "exponential"
	// ExponentialJitter pauses for any time up to what Exponential would. It is
	// "full jitter" in Marc Brooker's article "Exponential Backoff And Jitter"
	// (AWS Architecture Blog, 2015), which finds that clients need less work with
	// it than with the other ways that it compares.
	ExponentialJitter Retry = "exponential-jitter"
	// ExponentialTenth pauses for what Exponential would and for up to a tenth of
	// that more: a little jitter on top, as it is often written by hand.
	ExponentialTenth Retry = "exponential-tenth"
)

// Retries are all of them, the simplest first.
func Retries() []Retry {
	return []Retry{Fixed, Jitter, Linear, Exponential, ExponentialJitter, ExponentialTenth}
}

// maxRetryFactor is how many base intervals [Retry.Pause] lets a pause grow to
// at most, without jitter.
const maxRetryFactor = 32

// Pause is how long to wait after the failed-th attempt in a row, counted from 1,
// and is at least a nanosecond. base is the interval, from a nanosecond to a year;
// what is less counts as a nanosecond. An error means that r is unknown or that
// random, from which eight bytes are read where chance decides, could not be read.
func (r Retry) Pause(base time.Duration, failed int, random io.Reader) (time.Duration, error) {
	base = max(base, 1)
	switch r {
	case Fixed:
		return base, nil
	case Jitter:
		return upTo(2*base-1, random)
	case Linear:
		return time.Duration(max(1, min(failed, maxRetryFactor))) * base, nil
	case Exponential:
		return grown(base, failed), nil
	case ExponentialJitter:
		return upTo(grown(base, failed), random)
	case ExponentialTenth:
		pause := grown(base, failed)
		more, err := upTo(pause/10+1, random)
		return pause + more - 1, err
	}
	return 0, fmt.Errorf("no way to retry is called %q: there are %v", string(r), Retries())
}

// grown is base, doubled for every failure after the first, up to MaxRetryFactor.
func grown(base time.Duration, failed int) time.Duration {
	factor := time.Duration(1)
	for range failed - 1 {
		if factor *= 2; factor >= maxRetryFactor {
			return maxRetryFactor * base
		}
	}
	return factor * base
}

// upTo draws a time from 1 ns to longest, all equally likely.
func upTo(longest time.Duration, random io.Reader) (time.Duration, error) {
	var b [8]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return 0, fmt.Errorf("no random pause before the next attempt: %w", err)
	}
	// The upper half of the product is an integer from 0 to longest-1.
	nth, _ := bits.Mul64(binary.BigEndian.Uint64(b[:]), uint64(longest))
	return time.Duration(nth) + 1, nil
}
