package locks

import (
	"time"

	"github.com/locksim/locksim/fakeclock"
)

// validity works out how long a grant lasts.
type validity struct {
	clock fakeclock.Clock
	kind  fakeclock.Kind
	ttl   time.Duration
	// drift is taken off for the clocks of the nodes, which may run faster.
	drift time.Duration
	// unchecked takes the answer to have come at once: the grant is believed to
	// last its full time from now, and is never refused for having come late.
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

// since returns what is left, now, of a grant that was asked for at start, and
// when it ends. Nothing is left if it is not positive.
func (v validity) since(start fakeclock.Reading) (left time.Duration, ends fakeclock.Reading) {
	now := v.now()
	if v.unchecked {
		start = now
	}
	ends = start.Add(v.ttl - v.drift)
	return ends.Sub(now), ends
}
