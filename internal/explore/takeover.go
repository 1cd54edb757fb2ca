package explore

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Takeover measures how long after a crash of the lock's holder another client is granted
// the lock. A search needs this time for the lengths of its faults: a fault that ends
// earlier cannot let two clients work at the same time. Takeover measures in the first
// base, which must be the first of [Lock.Bases].
//
// It returns 0 if no other client is granted the lock, or if the takeover takes less than twice the
// TTL. The longest faults last twice the TTL anyway.
//
// On Consul, for example, the takeover takes much longer than the TTL: a session ends after
// twice its TTL, and a lock-delay follows.
func Takeover(ctx context.Context, worlds runs.Backend) (time.Duration, error) {
	w := runs.WorldSpec{Faults: []runs.Fault{runs.NewFault(&sim.CrashFault{Process: firstClient}, 0).WithTrigger(
		trace.Trigger{Before: trace.StepPoint{Client: firstClient, Step: trace.Read}})}}
	off, err := worlds.Report(ctx, w, runs.FencingOff)
	if err != nil {
		return 0, fmt.Errorf("cannot measure how long another client waits for a crashed holder: %w", err)
	}
	if off.HasMisconduct() || off.Doubt != "" || off.History == nil || len(off.History.Acts()) == 0 {
		return 0, nil
	}
	cfg, err := worlds.Config(w, runs.FencingOff)
	if err != nil {
		return 0, err
	}
	crash := off.History.Acts()[0].Struck
	for _, s := range off.History.Sections() {
		if s.Client == firstClient || s.Granted.Seq < crash.Seq {
			continue
		}
		// The result is rounded twice, because faults get round sizes, and a thirtieth of the
		// TTL need not be one.
		ttl := cmp.Or(cfg.Lock.TTL, DefaultTTL)
		if delay := (s.Granted.At - crash.At).Round(ttl / 30).Round(10 * time.Millisecond); delay >= percentOf(ttl, largestPercent) {
			return delay, nil
		}
		break
	}
	return 0, nil
}
