package locks

import "context"

// The kind none is no lock at all. With fencing tokens it shows what the storage achieves
// alone, by checking the tokens. Without them it shows what goes wrong when neither a lock
// nor the storage protects the data.
func init() {
	Register(Kind{
		Name:         "none",
		Title:        "no lock at all: every acquire succeeds immediately",
		OwnClock:     true,
		Open:         true,
		CannotExtend: true,
		Slots:        func(string, int) ([]Slot, int) { return nil, 0 },
		New:          func(*Env) (Lock, error) { return noLock{}, nil },
	})
}

// noLock is a handle on no lock.
type noLock struct{}

// Acquire always succeeds.
func (noLock) Acquire(context.Context) (Lease, error) { return openLease{}, nil }

// An openLease is a lease that excludes nobody.
type openLease struct{}

// Release has nothing to do.
func (openLease) Release(context.Context) error { return nil }
