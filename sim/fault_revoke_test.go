package sim_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// After an operator has deleted a grant, the next client acquires the lock while the first
// still works. The verdict blames the broken assumption lock memory. Nothing can be revoked
// from a client without a grant.
func TestRevoke(t *testing.T) {
	works := SectionsWorld(ToyLock, sim.Client{Name: "client-1", Works: 10 * time.Second}, sim.Client{Name: "client-2", Starts: Point("client-1 read")})
	for _, test := range []struct {
		name   string
		faults []sim.Fault
		broken string // the violated properties
		keys   string // what happens to the lock's key, with the number of the holder's section
	}{
		{"no grant is revoked", nil, "", "set 1, delete 1, set 11, delete 11"}, // client-2 tries to acquire each second
		{"the grant of the holder is revoked", []sim.Fault{When("client-1 read", &sim.Revoke{Client: "client-1"})},
			"lease-exclusion assumption: lock memory, section-exclusion assumption: lock memory, grant-order, write-order, no-lost-update, serial-sections",
			"set 1, delete 1, set 1, delete 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := RunWorld(t, WithFaults(works, test.faults...))
			AllFaultsStruck(t, tr)
			Equal(t, "violated properties", Violations(tr), test.broken)
			Equal(t, "what happened to the key", KeyHistory(tr, "toy-1"), test.keys)
			if err := tr.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}

// The fault revoke strikes in vain if the client has no claim on the servers, or if all
// servers are down, paused or failing.
func TestRevokeInVain(t *testing.T) {
	const reason = "an operator found no claim of client-1 to revoke on any server that runs"
	// during returns a revoke while another fault acts on the node for a second.
	during := func(node sim.Action) []sim.Fault {
		return []sim.Fault{
			When("100ms after client-1 read", &sim.Revoke{Client: "client-1"}),
			Lasting(time.Second, When("client-1 read", node)),
		}
	}
	for name, faults := range map[string][]sim.Fault{
		"the client has not asked yet":     {At(0, &sim.Revoke{Client: "client-1"})},
		"the client has released the lock": {When("client-1 finished", &sim.Revoke{Client: "client-1"})},
		"the node is down":                 during(CrashOf("toy-1", trace.Kill)),
		"the node is paused":               during(PauseOf("toy-1")),
		"the node fails":                   during(&sim.Fail{Node: "toy-1"}),
	} {
		works := SectionsWorld(ToyLock, sim.Client{Name: "client-1", Works: 10 * time.Second}, sim.Client{Name: "client-2", Starts: Point("client-1 read")})
		Equal(t, name+": why the revoke did not act", RunWorld(t, WithFaults(works, faults...)).Faults[0].IdleReason, reason)
	}
}

// A fault revoke that makes no sense in its world is refused with a reason.
func TestRevokeIsRefused(t *testing.T) {
	toys := SectionsWorld(ToyLock, sim.Client{Name: "client-1"})
	for _, c := range []struct {
		is   sim.Revoke
		want string // a part of the error
	}{
		{sim.Revoke{}, "revoke: name a process"},
		{sim.Revoke{Client: "client-9"}, `revoke: there is no process "client-9"`},
		{sim.Revoke{Client: "toy-1"}, "revoke: toy-1 is not a client; name the client whose grant an operator deletes"},
		{sim.Revoke{Client: "client-1", How: "gently"}, `how: "gently" is not a way to revoke; write session, or leave it out`},
		{sim.Revoke{Client: "client-1", How: "session"}, "how: a toy keeps no sessions that an operator could end; leave it out"},
	} {
		if err := (sim.Fault{Action: &c.is}).Check(toys.Topology()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: the error is %v, want one that contains %q", c.is, err, c.want)
		}
	}
}
