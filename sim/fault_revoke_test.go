package sim_test

import (
	"testing"
	"time"

	"github.com/locksim/locksim/sim"
	. "github.com/locksim/locksim/sim/simtest"
)

// An operator who deletes a grant by hand lets the next client in while the first still works.
// The overlap is nobody's but the servers', which did not keep the grant. Of a client without a
// grant there is nothing to revoke.
func TestRevoke(t *testing.T) {
	works := Sections(ToyLock, sim.Client{Name: "client-1", Works: 10 * time.Second}, sim.Client{Name: "client-2", Starts: Point("client-1 read")})
	for _, test := range []struct {
		name   string
		faults []sim.Fault
		broken string
		keys   string
	}{
		{"nobody is revoked", nil, "", "set 1, delete 1, set 11, delete 11"}, // client-2 tries each second
		{"the holder", []sim.Fault{When("client-1 read", &sim.Revoke{Client: "client-1"})},
			"lease-exclusion assumption: lock memory, section-exclusion assumption: lock memory, grant-order, write-order, no-lost-update, serial-sections",
			"set 1, delete 1, set 1, delete 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := Play(t, With(works, test.faults...))
			Struck(t, tr)
			Same(t, "it violates", Broken(tr), test.broken)
			Same(t, "the key is", KeyHistory(tr, "toy-1"), test.keys)
		})
	}
}
