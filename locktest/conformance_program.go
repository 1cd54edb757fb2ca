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

// A holder is what a client does with a lease that it has got.
type holder func(ctx context.Context, p *sim.Program, in *sim.Section) error

// A program is what a client does.
type program = func(context.Context, *sim.Program) error

// holding is a program that gets the lock and does something with the lease.
func holding(do holder) program {
	return asking(func(ctx context.Context, p *sim.Program) error {
		in, err := get(ctx, p, p.Lock())
		if err != nil {
			return err
		}
		var b *sim.Breach
		if err = do(ctx, p, in); errors.As(err, &b) {
			_ = in.Release(ctx) // so that it is in nobody's way
		}
		return err
	})
}

// asking is a program that asks something of the lock: it ends with an error only
// if it does not get that. Any other error is its client's bad luck.
func asking(run program) program {
	return func(ctx context.Context, p *sim.Program) error {
		var b *sim.Breach
		if errors.As(run(ctx, p), &b) {
			return b
		}
		return nil
	}
}

// blameless is a program whose breaches count against nobody.
func blameless(run program) program {
	return func(ctx context.Context, p *sim.Program) error {
		err := run(ctx, p)
		var b *sim.Breach
		if errors.As(err, &b) {
			return errors.New(err.Error())
		}
		return err
	}
}

// breach is the error of a program whose lock does what it must not.
func breach(rule checks.Property, format string, args ...any) error {
	return &sim.Breach{Rule: string(rule), Why: fmt.Sprintf(format, args...)}
}

// get tries to get the lock until it has it, for two TTLs, what the servers add to one, and
// as long as an attempt takes.
func get(ctx context.Context, p *sim.Program, lock locks.Lock) (*sim.Section, error) {
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

// extend prolongs a lease.
func extend(ctx context.Context, in *sim.Section) error {
	if _, ok := in.Lease().(locks.Extender); !ok {
		return breach(checks.ClaimExtends, "the lease that it was given cannot be extended")
	}
	return in.Extend(ctx)
}

// use does the work of a section and ends it.
func use(ctx context.Context, in *sim.Section) error {
	if err := in.Write(ctx, trace.Object); err != nil {
		return err
	}
	// The section is over, whatever the lock says.
	_ = in.Release(ctx)
	return nil
}

// told says whether a lease's loss has been told.
func told(in *sim.Section) (yes, can bool) {
	n, can := in.Lease().(locks.Notifier)
	if !can {
		return false, false
	}
	select {
	case <-n.Lost():
		return true, true
	default:
		return false, true
	}
}

// soon is a client's interval between attempts where others must not be in its way
// for long.
const soon = ttl / 50

// another is a client that comes at some point, and has a short section.
func another(name string, starts ...trace.Happening) sim.Client {
	return sim.Client{Name: name, Starts: on(starts...), RetryEvery: soon, Works: ttl / 50}
}

// bounded is a context that ends after a while of the program's time.
func bounded(ctx context.Context, p *sim.Program, d time.Duration) (context.Context, context.CancelFunc) {
	return fakeclock.WithTimeout(ctx, p.Clock(), d)
}
