package locks

import (
	"time"

	"github.com/locksim/locksim/fakeclock"
)

// validity computes how long a grant lasts, by one of the process's clocks.
type validity struct {
	clock fakeclock.Clock
	kind  fakeclock.Kind
	ttl   time.Duration
	// drift is subtracted from the TTL, because the clocks of the nodes may run faster.
	drift time.Duration
	// unchecked ignores how long the answer took. The lock then believes that the grant
	// lasts one TTL from the answer, and never refuses a grant because the answer came
	// late.
	unchecked bool
}

// newValidity returns the validity that the options ask for.
func (e *Env) newValidity(drift time.Duration) validity {
	v := validity{
		clock:     e.Clock,
		kind:      e.Options.Clock,
		ttl:       e.TTL,
		drift:     drift,
		unchecked: !e.Options.Has("elapsed-check"),
	}
	if v.kind == "" {
		v.kind = fakeclock.Monotonic
	}
	return v
}

// now reads the clock with which the lock measures time.
func (v validity) now() fakeclock.Reading { return v.clock.Read(v.kind) }

// remaining returns how much time is left of a grant that was requested at start, and when
// the grant ends. If left is zero or less, the grant has already ended.
func (v validity) remaining(start fakeclock.Reading) (left time.Duration, ends fakeclock.Reading) {
	now := v.now()
	if v.unchecked {
		start = now
	}
	ends = start.Add(v.ttl - v.drift)
	return ends.Sub(now), ends
}
