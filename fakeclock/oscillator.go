package fakeclock

import (
	"math"
	"math/bits"
	"time"
)

// nominalSpeed is the speed of an oscillator that keeps true time, in ticks per second of
// true time.
const nominalSpeed = 1_000_000_000

// oscillator is what both clocks of a machine count. At moment base of true time it had
// made ticks + part/1e9 ticks of nominally 1 ns, and it makes speed ticks per second of
// true time.
//
// It is exact. The part of a tick is kept from change to change, so errors do not
// accumulate. A reading is the true count rounded down by less than 1 ns.
type oscillator struct {
	base  time.Duration
	ticks int64
	part  uint64 // in 1e-9 of a tick, below 1e9
	speed uint64 // from 1 to below nominalSpeed + MaxRatePPB
}

// at returns the count of whole ticks at moment now, which must not be before base, and the
// part of the next tick.
func (o oscillator) at(now time.Duration) (ticks int64, part uint64) {
	// Below 53 years of true time the high word stays below 1e9, even at the fastest speed,
	// so the division cannot overflow.
	hi, lo := bits.Mul64(uint64(now-o.base), o.speed)
	lo, carry := bits.Add64(lo, o.part, 0)
	whole, part := bits.Div64(hi+carry, lo, nominalSpeed)
	return o.ticks + int64(whole), part
}

// when returns the first moment, not before base, at which at least n ticks will have been
// made. ok is false if that is beyond the range of time.Duration.
func (o oscillator) when(n int64) (moment time.Duration, ok bool) {
	if n <= o.ticks {
		return o.base, true
	}
	hi, lo := bits.Mul64(uint64(n)-uint64(o.ticks), nominalSpeed)
	lo, borrow := bits.Sub64(lo, o.part, 0)
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

// set changes the speed from moment now on.
func (o *oscillator) set(now time.Duration, speed uint64) {
	o.ticks, o.part = o.at(now)
	o.base, o.speed = now, speed
}
