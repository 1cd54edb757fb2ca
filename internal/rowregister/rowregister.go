// Package rowregister emits trace events for locks that are a database row. The row names
// the holder and the time at which the lease ends. The simulated servers of different
// databases share this package.
package rowregister

import (
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A Register keeps what is known of the rows of locks on one database server, and emits
// events for the trace when they change. The events say who holds each lease, and when it
// ends by the wall clock of the server's machine. A Register must be used only in the
// goroutine of the world's event loop.
type Register struct {
	Leases     []*Lease
	host       *sim.Host
	holderName func(holder string) string
	alarm      *agenda.Alarm // rings when the next lease expires
}

// NewRegister returns the register of the database server on a host. holderName returns the
// name that the trace shows for a holder.
func NewRegister(host *sim.Host, holderName func(holder string) string) *Register {
	g := &Register{host: host, holderName: holderName}
	g.alarm = agenda.NewAlarm(host, g.Expire)
	return g
}

// A RowState is what the row of a lock contains.
type RowState struct {
	IsHeld bool
	Holder string
	// Ends is when the lease ends by the machine's wall clock; the zero Time means never.
	Ends time.Time
	// ClientEnds is when the lease ends by the clocks of the clients. A client takes the
	// row over when its own clock shows this time. The zero Time means that the clients'
	// clocks do not matter.
	ClientEnds time.Time
	// Version is a number that each renewal changes. A client takes the row over when it has
	// seen the same version for the length of a lease. "" means that the row has no version.
	Version string
}

// isJudgedByClients reports whether clients decide when the lease ends.
func (s RowState) isJudgedByClients() bool { return !s.ClientEnds.IsZero() || s.Version != "" }

// A Lease is what the register knows of the row of one lock.
type Lease struct {
	Key string
	RowState
	IsActive bool         // the lease is held and has not expired
	Owner    *trace.Actor // the acquisition that holds the lease; nil if unknown
}

// Update records the new state of a row and emits the event of what has changed. by is the
// acquisition that changed the row. copied says that the change was replicated from another
// machine.
func (g *Register) Update(l *Lease, state RowState, by *trace.Actor, copied bool) {
	previous := *l
	l.RowState = state
	l.IsActive = l.IsHeld && !g.isExpired(l)
	ev := trace.Event{Kind: trace.KindSet, Key: l.Key, By: by}
	switch {
	case !l.IsActive && !previous.IsActive:
		return
	case !l.IsActive:
		if copied {
			by = nil
		}
		g.emitEnd(&previous, trace.KindDelete, by)
		return
	case previous.IsActive && previous.RowState == l.RowState:
		return
	case previous.IsActive && previous.Holder == l.Holder:
		ev.Kind = trace.KindTouch
	default:
		if previous.IsActive && previous.isJudgedByClients() && !copied {
			g.emitEnd(&previous, trace.KindExpire, by)
			previous.IsActive = false
		}
		l.Owner = by
		if previous.IsActive {
			ev.Prior = previous.Owner
		}
	}
	switch {
	case copied:
		ev = trace.Event{Kind: trace.KindRestore, Key: l.Key}
	case !l.ClientEnds.IsZero():
		ev.LeaseEnd = &fakeclock.Reading{Clock: fakeclock.Wall, Nanos: l.ClientEnds.UnixNano()}
	}
	g.emitActive(l, ev)
}

// Revert records that a row has gone back to an earlier state. If the lease was active and its
// state has changed, Revert emits the event that the server has forgotten the lease.
func (g *Register) Revert(l *Lease, state RowState) {
	previous := *l
	l.RowState = state
	if l.IsActive = previous.IsActive && previous.RowState == state; previous.IsActive && !l.IsActive {
		g.emitEnd(&previous, trace.KindForget, nil)
	}
}

// isExpired reports whether a lease has ended by the machine's wall clock.
func (g *Register) isExpired(l *Lease) bool {
	return !l.Ends.IsZero() && !g.host.Clock().Now().Before(l.Ends)
}

// Expire emits the end of each lease that has expired, and sets the alarm for the next one.
func (g *Register) Expire() {
	for _, l := range g.Leases {
		if l.IsActive && g.isExpired(l) {
			l.IsActive = false
			g.emitEnd(l, trace.KindExpire, nil)
		}
	}
	g.ScheduleExpiry()
}

// ScheduleExpiry sets the alarm for the next lease that expires. Call it after
// [Register.Update].
func (g *Register) ScheduleExpiry() {
	var earliest time.Time
	for _, l := range g.Leases {
		if l.IsActive && !l.Ends.IsZero() && (earliest.IsZero() || l.Ends.Before(earliest)) {
			earliest = l.Ends
		}
	}
	g.alarm.Set(earliest)
}

// ClockChanged must be called when the machine's wall clock was set. It emits the end of each
// lease that has expired by the new time. An expired lease whose end is in the future by the
// new time becomes active again, because its row still exists; ClockChanged emits this, too.
func (g *Register) ClockChanged() {
	g.Expire()
	for _, l := range g.Leases {
		if l.IsHeld && !l.IsActive && !g.isExpired(l) {
			l.IsActive = true
			g.emitActive(l, trace.Event{Kind: trace.KindRestore, Key: l.Key})
		}
	}
	g.ScheduleExpiry()
}

// emitEnd emits an event that ends a lease.
func (g *Register) emitEnd(l *Lease, kind trace.Kind, by *trace.Actor) {
	g.host.Emit(trace.Event{Kind: kind, Key: l.Key, Value: g.holderName(l.Holder), By: by, Owner: l.Owner})
}

// emitActive emits an event about an active lease, after adding the lease's holder, owner and
// end.
func (g *Register) emitActive(l *Lease, ev trace.Event) {
	ev.Value, ev.Owner = g.holderName(l.Holder), l.Owner
	if !l.Ends.IsZero() {
		ev.TTL = max(l.Ends.Sub(g.host.Clock().Now()), 1)
		ev.Expires, _ = g.host.When(l.Ends)
	}
	g.host.Emit(ev)
}
