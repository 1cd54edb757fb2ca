// Package expiry holds the end of a lease that can be extended.
package expiry

import (
	"sync"

	"github.com/locksim/locksim/fakeclock"
)

// An End is when a lease ends. It may be read while the lease is being extended.
type End struct {
	mu sync.Mutex
	at fakeclock.Reading
}

// At returns the End at a reading of a clock.
func At(r fakeclock.Reading) End { return End{at: r} }

// Expires returns when the lease ends; see locks.Expirer.
func (e *End) Expires() fakeclock.Reading {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.at
}

// MoveTo sets another end.
func (e *End) MoveTo(r fakeclock.Reading) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.at = r
}
