package sim

import (
	"errors"
	"reflect"
	"slices"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// A Breach is the error that a [Client.Run] returns when it has found that the lock breaks
// a rule. The trace contains it as a complaint.
type Breach struct {
	// Rule is the name of the broken rule. Why is a sentence about what the lock did.
	Rule, Why string
}

func (b *Breach) Error() string { return b.Rule + " | " + b.Why }

// lockError is the error of a client whose lock could not be made.
type lockError struct{ err error }

func (u *lockError) Error() string { return trace.CannotMake + ": " + u.err.Error() }
func (u *lockError) Unwrap() error { return u.err }

// errNoLease is the error of a call of acquire that returned neither a lease nor an error.
// The client does not know whether it holds the lock.
var errNoLease = errors.New("acquire returned neither a lease nor an error")

// isNoLease reports whether a lease is nil, or is a nil pointer, whose methods would fail.
func isNoLease(l locks.Lease) bool {
	if l == nil {
		return true
	}
	v := reflect.ValueOf(l)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// recordNoLease adds a complaint to the trace the first time that acquire returns neither a
// lease nor an error to the client.
func (g *program) recordNoLease() {
	c := trace.Complaint{Client: g.p.name, Rule: trace.NoLease, Why: errNoLease.Error()}
	if !slices.Contains(g.w.trace.Complaints, c) {
		g.w.trace.Complaints = append(g.w.trace.Complaints, c)
	}
}

// recordComplaint adds a complaint about the lock to the trace if the error of a program is
// a [Breach] or a lockError.
func (g *program) recordComplaint(err error) {
	c := trace.Complaint{Client: g.p.name}
	var b *Breach
	var u *lockError
	switch {
	case errors.As(err, &b):
		c.Rule, c.Why = b.Rule, b.Why
	case errors.As(err, &u):
		c.Rule, c.Why = trace.CannotMake, errorText(err)
	default:
		return
	}
	g.w.trace.Complaints = append(g.w.trace.Complaints, c)
}
