package locktest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/fakeclock"
	voice "github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A holder is what a client does with a lease that it has acquired.
type holder func(ctx context.Context, p *sim.Program, in *sim.Section) error

// A program is what a client does.
type program = func(context.Context, *sim.Program) error

// holding returns a program that acquires the lock and runs do with the lease.
func holding(do holder) program {
	return onlyBreaches(func(ctx context.Context, p *sim.Program) error {
		in, err := acquire(ctx, p, p.Lock())
		if err != nil {
			return err
		}
		var b *sim.Breach
		if err = do(ctx, p, in); errors.As(err, &b) {
			_ = in.Release(ctx) // so the lease is in no other client's way
		}
		return err
	})
}

// onlyBreaches returns a program that returns the breaches of run and drops all other
// errors: they are not the lock's fault.
func onlyBreaches(run program) program {
	return func(ctx context.Context, p *sim.Program) error {
		var b *sim.Breach
		if errors.As(run(ctx, p), &b) {
			return b
		}
		return nil
	}
}

// withoutBreaches returns a program whose breaches are plain errors, which do not count
// against the lock.
func withoutBreaches(run program) program {
	return func(ctx context.Context, p *sim.Program) error {
		err := run(ctx, p)
		var b *sim.Breach
		if errors.As(err, &b) {
			return errors.New(err.Error())
		}
		return err
	}
}

// breach returns the error of a program whose lock does what it must not.
func breach(rule checks.Property, format string, args ...any) error {
	return &sim.Breach{Rule: string(rule), Why: fmt.Sprintf(format, args...)}
}

// acquire tries to acquire the lock until it succeeds, or until it has waited too long: two
// TTLs and what the servers add to one. An attempt that has begun is not cut off.
func acquire(ctx context.Context, p *sim.Program, lock locks.Lock) (*sim.Section, error) {
	patience := ttls(2)
	if grace := p.System().Grace; grace != nil {
		patience += grace(p.Env().TTL)
	}
	for began := monotonic(p); ; {
		in, err := p.Acquire(ctx, lock)
		waited := monotonic(p).Sub(began)
		switch {
		case err == nil:
			return in, nil
		case waited > patience:
			return nil, breach(checks.Progress, "it tried to get the lock for %s and did not get it", voice.Span(waited))
		}
		if err := p.Sleep(ttls(0.03)); err != nil {
			return nil, err
		}
	}
}

func monotonic(p *sim.Program) fakeclock.Reading { return p.Clock().Read(fakeclock.Monotonic) }

// extend extends a lease.
func extend(ctx context.Context, in *sim.Section) error {
	if _, ok := in.Lease().(locks.Extender); !ok {
		return breach(checks.ClaimExtends, "the lease that it was given cannot be extended")
	}
	return in.Extend(ctx)
}

// writeAndRelease does the work of a section and ends it.
func writeAndRelease(ctx context.Context, in *sim.Section) error {
	if err := in.Write(ctx, trace.DefaultObject); err != nil {
		return err
	}
	// The section has ended, whatever release returns.
	_ = in.Release(ctx)
	return nil
}

// isLossNotified reports whether the lock has notified the holder of the lease's loss, and
// whether it can.
func isLossNotified(in *sim.Section) (isNotified, canNotify bool) {
	n, canNotify := in.Lease().(locks.Notifier)
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

// shortRetry is the interval between attempts of a client that other clients must not hold
// up for long.
const shortRetry = ttl / 50

// another returns a client that starts at some point, and has a short section.
func another(name string, starts ...trace.Happening) sim.Client {
	return sim.Client{Name: name, Starts: whenAny(starts...), RetryEvery: shortRetry, Works: ttl / 50}
}

// bounded returns a context that ends after the duration d of the program's time.
func bounded(ctx context.Context, p *sim.Program, d time.Duration) (context.Context, context.CancelFunc) {
	return fakeclock.WithTimeout(ctx, p.Clock(), d)
}
