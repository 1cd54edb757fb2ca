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
	Leases []*Held
	host   *sim.Host
	name   func(holder string) string
	ends   *agenda.Alarm // rings when the next lease expires
}

// NewRegister returns the register of a machine. holderName returns the name of a holder in
// the trace.
func NewRegister(host *sim.Host, name func(holder string) string) *Register {
	g := &Register{host: host, name: name}
	g.ends = agenda.NewAlarm(host, g.Expire)
	return g
}

// A RowState is what the row of a lock shows.
type Says struct {
	Held   bool
	Holder string
	// Ends is when the lease ends by the machine's clock; the zero Time means never.
	Ends time.Time
	// ClientEnds is when the lease ends by the clocks of the clients, which then take the
	// row over. The zero Time means that the clients' clocks do not count.
	Judged time.Time
}

// A Lease is what the register knows of the row of a lock.
type Held struct {
	Key string
	Says
	Stands bool // the lease is held and has not expired
	Owner  *trace.Actor
}

// Update takes in the new state of a row and emits what has changed. by is the client that
// changed it. copied says that the change was replicated from another machine.
func (g *Register) Look(l *Held, says Says, by *trace.Actor, copied bool) {
	was := *l
	l.Says = says
	l.Stands = l.Held && !g.isOver(l)
	ev := trace.Event{Kind: trace.KindSet, Key: l.Key, By: by}
	switch {
	case !l.Stands && !was.Stands:
		return
	case !l.Stands:
		if copied {
			by = nil
		}
		g.over(&was, trace.KindDelete, by)
		return
	case was.Stands && was.Says == l.Says:
		return
	case was.Stands && was.Holder == l.Holder:
		ev.Kind = trace.KindTouch
	default:
		if was.Stands && !was.Judged.IsZero() && !copied {
			g.over(&was, trace.KindExpire, by)
			was.Stands = false
		}
		l.Owner = by
		if was.Stands {
			ev.Prior = was.Owner
		}
	}
	switch {
	case copied:
		ev = trace.Event{Kind: trace.KindRestore, Key: l.Key}
	case !l.Judged.IsZero():
		ev.Ends = &fakeclock.Reading{Clock: fakeclock.Wall, Nanos: l.Judged.UnixNano()}
	}
	g.stands(l, ev)
}

// Revert takes in that a row has gone back to an earlier state. It emits that the lease is
// forgotten if it was active and its state is no longer the same.
func (g *Register) Revert(l *Held, says Says) {
	was := *l
	l.Says = says
	if l.Stands = was.Stands && was.Says == says; was.Stands && !l.Stands {
		g.over(&was, trace.KindForget, nil)
	}
}

// isExpired reports whether a lease has ended by the machine's clock.
func (g *Register) isOver(l *Held) bool {
	return !l.Ends.IsZero() && !g.host.Clock().Now().Before(l.Ends)
}

// Expire emits which leases have expired, and schedules the next expiry.
func (g *Register) Expire() {
	for _, l := range g.Leases {
		if l.Stands && g.isOver(l) {
			l.Stands = false
			g.over(l, trace.KindExpire, nil)
		}
	}
	g.Plan()
}

// ScheduleExpiry sets the alarm for the next lease that expires. Call it after
// [Register.Update].
func (g *Register) Plan() {
	var first time.Time
	for _, l := range g.Leases {
		if l.Stands && !l.Ends.IsZero() && (first.IsZero() || l.Ends.Before(first)) {
			first = l.Ends
		}
	}
	g.ends.Set(first)
}

// ClockChanged emits which leases the new time has ended. It also emits which ended leases
// are active again, because their rows still exist.
func (g *Register) ClockChanged() {
	g.Expire()
	for _, l := range g.Leases {
		if l.Held && !l.Stands && !g.isOver(l) {
			l.Stands = true
			g.stands(l, trace.Event{Kind: trace.KindRestore, Key: l.Key})
		}
	}
	g.Plan()
}

// emitEnd emits the end of a lease.
func (g *Register) over(l *Held, how trace.Kind, by *trace.Actor) {
	g.host.Emit(trace.Event{Kind: how, Key: l.Key, Value: g.name(l.Holder), By: by, Owner: l.Owner})
}

// emitActive emits an event of an active lease.
func (g *Register) stands(l *Held, ev trace.Event) {
	ev.Value, ev.Owner = g.name(l.Holder), l.Owner
	if !l.Ends.IsZero() {
		ev.TTL = max(l.Ends.Sub(g.host.Clock().Now()), 1)
		ev.Expires, _ = g.host.When(l.Ends)
	}
	g.host.Emit(ev)
}
