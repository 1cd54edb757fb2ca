// Package expiry provides [End], the time at which a lease ends, for locks whose leases can
// be extended.
package expiry

import (
	"sync"

	"github.com/locksim/locksim/fakeclock"
)

// An End is the time at which a lease ends, as a reading of a clock. Several goroutines may
// read and move it.
type End struct {
	mu      sync.Mutex
	reading fakeclock.Reading
}

// At returns the End of a lease that ends when its clock reads r.
func At(r fakeclock.Reading) End { return End{reading: r} }

// Expires returns the reading of the clock at which the lease ends. It implements
// locks.Expirer.
func (e *End) Expires() fakeclock.Reading {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.reading
}

// MoveTo sets a new end, after the lease was extended.
func (e *End) MoveTo(r fakeclock.Reading) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reading = r
}
