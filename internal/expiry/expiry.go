// Package expiry has the end of a lease that can be prolonged.
package expiry

import (
	"sync"

	"github.com/locksim/locksim/fakeclock"
)

// An End is when a lease ends. It may be read while the lease is prolonged.
type End struct {
	mu sync.Mutex
	at fakeclock.Reading
}

// At is an end that is known.
func At(r fakeclock.Reading) End { return End{at: r} }

// Expires is as in locks.Expirer.
func (e *End) Expires() fakeclock.Reading {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.at
}

// MoveTo has the lease end at another time.
func (e *End) MoveTo(r fakeclock.Reading) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.at = r
}
