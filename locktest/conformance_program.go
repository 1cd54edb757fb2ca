package locktest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/fakeclock"
	voice "github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A sectionBody is what a client does in its critical section, after it has acquired the lock.
type sectionBody func(ctx context.Context, p *sim.Program, in *sim.Section) error

// A program is what a client does from its start to its end.
type program = func(context.Context, *sim.Program) error

// acquireThen returns a program that acquires the lock and then runs the body.
func acquireThen(body sectionBody) program {
	return ignoreOtherErrors(func(ctx context.Context, p *sim.Program) error {
		section, err := acquire(ctx, p, p.Lock())
		if err != nil {
			return err
		}
		var b *sim.Breach
		if err = body(ctx, p, section); errors.As(err, &b) {
			_ = section.Release(ctx) // so other clients can acquire the lock
		}
		return err
	})
}

// ignoreOtherErrors returns a program that returns only the breaches of run: the errors
// which say that the lock broke a rule. It drops all other errors, for which the lock is
// not to blame.
func ignoreOtherErrors(run program) program {
	return func(ctx context.Context, p *sim.Program) error {
		var b *sim.Breach
		if errors.As(run(ctx, p), &b) {
			return b
		}
		return nil
	}
}

// excuseBreaches returns a program whose breaches are turned into plain errors, which do
// not fail the lock.
func excuseBreaches(run program) program {
	return func(ctx context.Context, p *sim.Program) error {
		err := run(ctx, p)
		var b *sim.Breach
		if errors.As(err, &b) {
			return errors.New(err.Error())
		}
		return err
	}
}

// newBreach returns a breach: the error with which a client's program reports that the lock
// broke a rule.
func newBreach(rule checks.Property, format string, args ...any) error {
	return &sim.Breach{Rule: string(rule), Why: fmt.Sprintf(format, args...)}
}

// acquire repeats the call of acquire until it succeeds. It returns a breach if the lock is
// not granted within two TTLs, plus the time that the system's servers add to a TTL. It
// does not cut off a call that has begun.
func acquire(ctx context.Context, p *sim.Program, lock locks.Lock) (*sim.Section, error) {
	patience := ttls(2)
	if extraTime := p.System().Grace; extraTime != nil {
		patience += extraTime(p.Env().TTL)
	}
	for began := monotonic(p); ; {
		section, err := p.Acquire(ctx, lock)
		waited := monotonic(p).Sub(began)
		switch {
		case err == nil:
			return section, nil
		case waited > patience:
			return nil, newBreach(checks.Progress, "it tried to acquire the lock for %s and was not granted it", voice.Span(waited))
		}
		if err := p.Sleep(ttls(0.03)); err != nil {
			return nil, err
		}
	}
}

// monotonic reads the monotonic clock of the program's process.
func monotonic(p *sim.Program) fakeclock.Reading { return p.Clock().Read(fakeclock.Monotonic) }

// extend extends the section's lease. It returns a breach if leases cannot be extended.
func extend(ctx context.Context, section *sim.Section) error {
	if _, ok := section.Lease().(locks.Extender); !ok {
		why := "the lease that acquire returned cannot be extended"
		for _, method := range locks.Mistyped(section.Lease()) {
			if strings.HasPrefix(method, "Extend ") {
				why += "; its method " + method
			}
		}
		return newBreach(checks.ClaimExtends, "%s", why)
	}
	return section.Extend(ctx)
}

// writeAndRelease writes to the storage and releases the lock.
func writeAndRelease(ctx context.Context, section *sim.Section) error {
	if err := section.Write(ctx, trace.DefaultObject); err != nil {
		return err
	}
	// The section has ended, even if release returns an error.
	_ = section.Release(ctx)
	return nil
}

// isLossNotified reports whether the lock has notified the holder that the lease is lost.
// canNotify is false if leases of this lock do not notify.
func isLossNotified(section *sim.Section) (isNotified, canNotify bool) {
	n, canNotify := section.Lease().(locks.Notifier)
	if !canNotify {
		return false, false
	}
	select {
	case <-n.Lost():
		return true, true
	default:
		return false, true
	}
}

// shortRetry is the time between two attempts of a client that has to get the lock soon
// after it becomes free.
const shortRetry = ttl / 50

// newContender returns a client that starts at the first of some happenings and has a short
// section.
func newContender(name string, starts ...trace.Happening) sim.Client {
	return sim.Client{Name: name, Starts: whenAny(starts...), RetryEvery: shortRetry, Works: ttl / 50}
}

// withTimeout returns a context that ends after d, measured by the clock of the program's
// process.
func withTimeout(ctx context.Context, p *sim.Program, d time.Duration) (context.Context, context.CancelFunc) {
	return fakeclock.WithTimeout(ctx, p.Clock(), d)
}
