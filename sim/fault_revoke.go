package sim

import (
	"cmp"
	"fmt"

	"github.com/locksim/locksim/trace"
)

func init() {
	registerFault(FaultKind{
		Name:   "revoke",
		Title:  "an operator deletes a client's grant, or its place in the queue, by hand",
		Effect: trace.RevokesClaim,
		New:    func() Action { return &Revoke{} },
		Manners: []Manner{
			{Phrases: trace.Phrases{
				Subject: "an operator", Predicate: "revokes {target}'s claim by hand", Noun: "a claim of {target} that an operator revokes by hand",
			}},
			{
				Value: revokeSession, Slug: "revoke-session",
				Phrases: trace.Phrases{
					Subject: "an operator", Predicate: "ends {target}'s session by hand", Noun: "a session of {target} that an operator ends by hand",
				},
			},
		},
		NotTried: "it ends a grant on every server, whatever the lock does, so a search would find only that; a scenario decides what an operator does",
	})
}

// revokeSession is the value of How with which the operator ends the client's session, and thereby
// all keys that belong to the session.
const revokeSession = "session"

// Revoke is the action of the fault revoke: an operator deletes a client's claim from the
// lock's servers, without notifying the client. A claim is a grant or a place in the queue.
// A server keeps it as a key, a znode, a row or an object. If a claim exists only as part
// of a session, such as an advisory lock of PostgreSQL, the operator ends the session.
type Revoke struct {
	Client string `yaml:"revoke" json:"revoke" jsonschema:"description=The client whose grant\\, or place in the queue\\, an operator deletes by hand on all of the lock's servers."`
	How    string `yaml:"how,omitempty" json:"how,omitempty" fault:"manner" jsonschema:"enum=session,description=session: the operator ends the client's session\\, and all that the client holds ends with it. Default: the operator deletes the key\\, the node\\, the row or the object\\, and the session continues."`
}

func (a *Revoke) check(t Topology) error {
	if err := t.checkClient("revoke", a.Client, "grant an operator deletes"); err != nil {
		return err
	}
	if a.How != "" && a.How != revokeSession {
		return fmt.Errorf("how: %q is not a way to revoke; write %s, or leave it out", a.How, revokeSession)
	}
	for _, n := range t.Nodes {
		if system, known := LookupSystem(n.System); known && system.Name == t.Lock.System {
			return system.checkRevoke(a.How)
		}
	}
	return nil // no server keeps the lock, so the fault will find nothing to revoke
}

// checkRevoke returns an error if the servers of this system do not simulate this manner of
// the fault revoke.
func (s System) checkRevoke(how string) error {
	name := cmp.Or(s.Node, "server")
	switch {
	case !s.Revokes:
		return fmt.Errorf("revoke: an operator at %s %s is not simulated: %s", article(name), name, cmp.Or(s.RevokeAdvice, "let the client crash, or pause it"))
	case how == revokeSession && !s.RevokesSessions:
		return fmt.Errorf("how: %s %s keeps no sessions that an operator could end; leave it out", article(name), name)
	}
	return nil
}

// strike schedules the deletion of the claim, because a server may be in the middle of a
// request now.
func (a *Revoke) strike(w *World, f *faultState) {
	w.schedule(w.now(), func() {
		if !a.revokeClaim(w) {
			f.markIneffective("an operator found no claim of " + a.Client + " to revoke on any server that runs")
		}
	})
}

// revokeClaim makes each running server of the lock delete the client's claim. In a
// cluster, one member deletes it for all. It returns false if no server has found a claim.
func (a *Revoke) revokeClaim(w *World) bool {
	found := false
	for _, p := range w.processes {
		h := p.host()
		if h == nil || h.system.Name != w.cfg.Lock.Kind.System || !h.IsUp() || p.isHalted() || h.Failure() != "" {
			continue
		}
		server, can := h.server.(Revocable)
		if !can || !server.Revoke(a.Client, a.How == revokeSession) {
			continue
		}
		found = true
		if h.system.Cluster {
			break
		}
	}
	return found
}
