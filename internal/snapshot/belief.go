package snapshot

import (
	"time"

	"github.com/locksim/locksim/history"
)

// A Belief is what a client can know about its own hold on the lock.
type Belief int

const (
	// NoHold: the client was not granted the lock, or it has released it or crashed.
	NoHold Belief = iota
	// HoldsTheLock: by the client's own clock its lease has not ended.
	HoldsTheLock
	// LeaseEnded: by the client's own clock its lease has ended, and it has not released.
	LeaseEnded
	// LostTheLock: the lock has notified the client that its lease is lost.
	LostTheLock
)

// BeliefOf returns what a client can know, at a moment, about its own hold on the lock. The client
// knows its own clock and the notifications of the lock. at is when the lease ends or ended, or
// when the client was notified of the loss; it is at least [history.Forever] for a lease without an
// end.
func (c *Camera) BeliefOf(client string, m history.Moment) (b Belief, at time.Duration) {
	s := c.currentSection(client, m)
	if s == nil || s.GrantsEveryone || hasHappened(s.Released, m) || !m.Before(s.To) && !m.Before(s.Lease.CutAt) {
		return NoHold, 0
	}
	if hasHappened(s.Lost, m) {
		return LostTheLock, s.Lost.At
	}
	d := s.Lease.Latest(m.Seq)
	if d == nil {
		return NoHold, 0
	}
	ends := d.Foreseen
	if c.history.Clocks().WasSet(client, m.Seq) || !m.Before(d.Until) {
		ends = d.Until
	}
	switch {
	case m.Before(ends):
		return HoldsTheLock, ends.At
	case m.Before(s.To):
		return LeaseEnded, ends.At
	}
	return NoHold, 0
}
