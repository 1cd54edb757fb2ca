package locks

import (
	"time"

	"github.com/locksim/locksim/fakeclock"
)

// validity computes how long a grant lasts.
type validity struct {
	clock fakeclock.Clock
	kind  fakeclock.Kind
	ttl   time.Duration
	// drift is subtracted for the clocks of the nodes, which may run faster.
	drift time.Duration
	// unchecked ignores how long the answer took: the grant is believed to last its full
	// time from now, and is never refused because it came late.
	unchecked bool
}

func (e *Env) validity(drift time.Duration) validity {
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

func (v validity) now() fakeclock.Reading { return v.clock.Read(v.kind) }

// remaining returns how much time is left of a grant that was requested at start, and when
// the grant ends. If left is not positive, the grant has ended.
func (v validity) remaining(start fakeclock.Reading) (left time.Duration, ends fakeclock.Reading) {
	now := v.now()
	if v.unchecked {
		start = now
	}
	ends = start.Add(v.ttl - v.drift)
	return ends.Sub(now), ends
}
