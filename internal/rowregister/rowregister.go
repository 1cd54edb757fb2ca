// Package rowregister emits the events of locks that are a database row with a holder and
// an end. The simulated servers of different databases share it.
package rowregister

import (
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A Register emits the events of lease rows on the machine of their database: who holds
// each lease, and until when by the machine's time of day. It is used only on the world's
// loop.
type Register struct {
	Leases     []*Lease
	host       *sim.Host
	holderName func(holder string) string
	alarm      *agenda.Alarm // rings when the next lease expires
}

// NewRegister returns the register of a machine. holderName returns the name of a holder in
// the trace.
func NewRegister(host *sim.Host, holderName func(holder string) string) *Register {
	g := &Register{host: host, holderName: holderName}
	g.alarm = agenda.NewAlarm(host, g.Expire)
	return g
}

// A RowState is what the row of a lock shows.
type RowState struct {
	IsHeld bool
	Holder string
	// Ends is when the lease ends by the machine's clock; the zero Time means never.
	Ends time.Time
	// ClientEnds is when the lease ends by the clocks of the clients, which then take the
	// row over. The zero Time means that the clients' clocks do not count.
	ClientEnds time.Time
}

// A Lease is what the register knows of the row of a lock.
type Lease struct {
	Key string
	RowState
	IsActive bool // the lease is held and has not expired
	Owner    *trace.Actor
}

// Update takes in the new state of a row and emits what has changed. by is the client that
// changed it. copied says that the change was replicated from another machine.
func (g *Register) Update(l *Lease, state RowState, by *trace.Actor, copied bool) {
	was := *l
	l.RowState = state
	l.IsActive = l.IsHeld && !g.isExpired(l)
	ev := trace.Event{Kind: trace.KindSet, Key: l.Key, By: by}
	switch {
	case !l.IsActive && !was.IsActive:
		return
	case !l.IsActive:
		if copied {
			by = nil
		}
		g.emitEnd(&was, trace.KindDelete, by)
		return
	case was.IsActive && was.RowState == l.RowState:
		return
	case was.IsActive && was.Holder == l.Holder:
		ev.Kind = trace.KindTouch
	default:
		if was.IsActive && !was.ClientEnds.IsZero() && !copied {
			g.emitEnd(&was, trace.KindExpire, by)
			was.IsActive = false
		}
		l.Owner = by
		if was.IsActive {
			ev.Prior = was.Owner
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

// Revert takes in that a row has gone back to an earlier state. It emits that the lease is
// forgotten if it was active and its state is no longer the same.
func (g *Register) Revert(l *Lease, state RowState) {
	was := *l
	l.RowState = state
	if l.IsActive = was.IsActive && was.RowState == state; was.IsActive && !l.IsActive {
		g.emitEnd(&was, trace.KindForget, nil)
	}
}

// isExpired reports whether a lease has ended by the machine's clock.
func (g *Register) isExpired(l *Lease) bool {
	return !l.Ends.IsZero() && !g.host.Clock().Now().Before(l.Ends)
}

// Expire emits which leases have expired, and schedules the next expiry.
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
	var first time.Time
	for _, l := range g.Leases {
		if l.IsActive && !l.Ends.IsZero() && (first.IsZero() || l.Ends.Before(first)) {
			first = l.Ends
		}
	}
	g.alarm.Set(first)
}

// ClockChanged emits which leases the new time has ended. It also emits which ended leases
// are active again, because their rows still exist.
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

// emitEnd emits the end of a lease.
func (g *Register) emitEnd(l *Lease, how trace.Kind, by *trace.Actor) {
	g.host.Emit(trace.Event{Kind: how, Key: l.Key, Value: g.holderName(l.Holder), By: by, Owner: l.Owner})
}

// emitActive emits an event of an active lease.
func (g *Register) emitActive(l *Lease, ev trace.Event) {
	ev.Value, ev.Owner = g.holderName(l.Holder), l.Owner
	if !l.Ends.IsZero() {
		ev.TTL = max(l.Ends.Sub(g.host.Clock().Now()), 1)
		ev.Expires, _ = g.host.When(l.Ends)
	}
	g.host.Emit(ev)
}
