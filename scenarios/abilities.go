package scenarios

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// checkAbilities returns an error if the scenario needs something of its lock that the lock
// of the world cannot do.
func checkAbilities(c sim.Config, witnesses []trace.Witness) error {
	for _, client := range c.Clients {
		if client.ExtendsEvery > 0 && c.Lock.Kind.CannotExtend {
			return fmt.Errorf("%s extends its lease, and this lock cannot be asked to extend one", client.Name)
		}
	}
	for i, f := range c.Faults {
		if m, ok := f.Message(); ok && m.Step.AtStorage() && c.Lock.Kind.KeepsData {
			return fmt.Errorf("fault %d (%s): the client reads and writes over the connection of this lock, and sends nothing to another storage", i+1, f.Text)
		}
	}
	if c.Lock.Kind.Open || c.Lock.Kind.NeverWaits {
		for _, w := range witnesses {
			if needsWaiting(c, w) {
				return fmt.Errorf("the witness %q needs a client that waits for the lock, and this lock is granted to every client that asks", w)
			}
		}
	}
	return nil
}

// needsWaiting reports whether a witness can be seen only if a client waits until another
// client no longer holds the lock: it is granted the lock only after the other has done
// something, although it asked before.
func needsWaiting(c sim.Config, w trace.Witness) bool {
	// A server that does not answer can make a client wait, whatever the lock is.
	masters := masterNames(c)
	if len(masters) > 0 && slices.ContainsFunc(c.Faults, func(f sim.Fault) bool { return f.Target() == masters[0] }) {
		return false
	}
	switch w.Relation {
	case trace.Before:
		return isGrantAfter(c, w.Other, w.Point)
	case trace.After:
		return isGrantAfter(c, w.Point, w.Other)
	case trace.WhilePaused: // nobody waits for the end of the grant, so the pause does not last until then
		for _, clause := range w.Point.Clauses() {
			if _, ok := clause.Happening.(trace.KeysExpired); !ok {
				return false
			}
		}
		return true
	}
	return false
}

// isGrantAfter reports whether a point is that a client is granted the lock, and another
// point is about another client, for which the first client does not wait before it asks.
func isGrantAfter(c sim.Config, grant, other trace.Point) bool {
	for _, g := range grant.Clauses() {
		action, ok := g.Happening.(trace.Action)
		if !ok || action.Verb != trace.Acquired && action.Verb != trace.NotAcquired {
			return false
		}
		for _, o := range other.Clauses() {
			client := aboutClient(o.Happening)
			if client == "" || client == action.Process || startsAfter(c, action.Process, o.Happening) {
				return false
			}
		}
	}
	return true
}

// aboutClient returns the client that a happening is about; "" if it is about none.
func aboutClient(h trace.Happening) string {
	switch h := h.(type) {
	case trace.Action:
		return h.Process
	case trace.KeysExpired:
		return h.Client
	case trace.KeyExpired:
		return h.Client
	case trace.SessionExpired:
		return h.Client
	}
	return ""
}

// startsAfter reports whether a client starts when something has happened.
func startsAfter(c sim.Config, name string, h trace.Happening) bool {
	for _, client := range c.Clients {
		if client.Name != name {
			continue
		}
		for _, clause := range client.Starts.Clauses() {
			if clause.Happening == h {
				return true
			}
		}
	}
	return false
}
