// Package rowregister is what simulated servers tell of locks that are a row with a holder and an
// end, in whatever database.
package rowregister

import (
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A Register tells the world what becomes of rows that are leases, on the machine where their
// database is: who holds each, and until when by the machine's time of day. It belongs to the loop.
type Register struct {
	Leases []*Held
	host   *sim.Host
	name   func(holder string) string
	ends   *agenda.Alarm // of the next that ends
}

// NewRegister is the register of a machine. name is what the trace calls a holder.
func NewRegister(host *sim.Host, name func(holder string) string) *Register {
	g := &Register{host: host, name: name}
	g.ends = agenda.NewAlarm(host, g.Expire)
	return g
}

// A Says is what the row of a lock says.
type Says struct {
	Held   bool
	Holder string
	// Ends is when its time is up; the zero Time is never.
	Ends time.Time
	// Judged is when it is up by the clocks of clients, who take the row over then; the zero Time is
	// that those have no say.
	Judged time.Time
}

// A Held is what is known of the row of a lock.
type Held struct {
	Key string
	Says
	Stands bool // it is held, and its time is not up
	Owner  *trace.Actor
}

// Look tells what has become of a row, by whose doing. What is copied is what another machine has
// told.
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

// Revert takes in that a row is again what it was, and tells it if nobody holds it any more, or not
// as before.
func (g *Register) Revert(l *Held, says Says) {
	was := *l
	l.Says = says
	if l.Stands = was.Stands && was.Says == says; was.Stands && !l.Stands {
		g.over(&was, trace.KindForget, nil)
	}
}

// isOver says whether the time of a row is up.
func (g *Register) isOver(l *Held) bool {
	return !l.Ends.IsZero() && !g.host.Clock().Now().Before(l.Ends)
}

// Expire tells whose time is up, and plans the next look.
func (g *Register) Expire() {
	for _, l := range g.Leases {
		if l.Stands && g.isOver(l) {
			l.Stands = false
			g.over(l, trace.KindExpire, nil)
		}
	}
	g.Plan()
}

// Plan has the register look again when the next time is up. It is to be called after [Register.Look].
func (g *Register) Plan() {
	var first time.Time
	for _, l := range g.Leases {
		if l.Stands && !l.Ends.IsZero() && (first.IsZero() || l.Ends.Before(first)) {
			first = l.Ends
		}
	}
	g.ends.Set(first)
}

// ClockChanged tells what the clock says now: whose time is up, and of whose it is not any more,
// as the row is still there.
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

// over tells how a lease ends.
func (g *Register) over(l *Held, how trace.Kind, by *trace.Actor) {
	g.host.Emit(trace.Event{Kind: how, Key: l.Key, Value: g.name(l.Holder), By: by, Owner: l.Owner})
}

// stands tells what an event says of a lease that stands.
func (g *Register) stands(l *Held, ev trace.Event) {
	ev.Value, ev.Owner = g.name(l.Holder), l.Owner
	if !l.Ends.IsZero() {
		ev.TTL = max(l.Ends.Sub(g.host.Clock().Now()), 1)
		ev.Expires, _ = g.host.When(l.Ends)
	}
	g.host.Emit(ev)
}
