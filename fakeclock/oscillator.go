package fakeclock

import (
	"math"
	"math/bits"
	"time"
)

// nominalSpeed is the speed of an oscillator that keeps true time, in ticks per second of
// true time.
const nominalSpeed = 1_000_000_000

// oscillator is a machine's oscillator. Both clocks of the machine count its ticks. A tick
// is nominally 1 ns. At true time base the count was ticks + fraction/1e9. Since then it
// grows by speed ticks per second of true time.
//
// The count is exact. It keeps the fraction of a tick at each change of speed, so errors do
// not accumulate. A reading is the count rounded down to a whole tick.
type oscillator struct {
	base     time.Duration
	ticks    int64
	fraction uint64 // in 1e-9 of a tick, below 1e9
	speed    uint64 // from 1 to below nominalSpeed + MaxRatePPB
}

// countAt returns the count at true time now, which must not be before base: the whole
// ticks, and the fraction in 1e-9 of a tick.
func (o oscillator) countAt(now time.Duration) (ticks int64, fraction uint64) {
	// Div64 panics if the high word is 1e9 or more. The high word stays below that for 53 years of
	// true time, even at the fastest speed.
	hi, lo := bits.Mul64(uint64(now-o.base), o.speed)
	lo, carry := bits.Add64(lo, o.fraction, 0)
	whole, fraction := bits.Div64(hi+carry, lo, nominalSpeed)
	return o.ticks + int64(whole), fraction
}

// timeOfCount returns the first true time, not before base, at which the count is n or more. ok is
// false if that time exceeds the range of time.Duration.
func (o oscillator) timeOfCount(n int64) (at time.Duration, ok bool) {
	if n <= o.ticks {
		return o.base, true
	}
	hi, lo := bits.Mul64(uint64(n)-uint64(o.ticks), nominalSpeed)
	lo, borrow := bits.Sub64(lo, o.fraction, 0)
	hi -= borrow
	// Round up: at an earlier moment the clock would read less than n.
	lo, carry := bits.Add64(lo, o.speed-1, 0)
	hi += carry
	if hi >= o.speed {
		return 0, false
	}
	wait, _ := bits.Div64(hi, lo, o.speed)
	if wait > uint64(math.MaxInt64-o.base) {
		return 0, false
	}
	return o.base + time.Duration(wait), true
}

// setSpeed changes the speed from true time now on.
func (o *oscillator) setSpeed(now time.Duration, speed uint64) {
	o.ticks, o.fraction = o.countAt(now)
	o.base, o.speed = now, speed
}
