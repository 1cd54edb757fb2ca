package checks

import (
	"testing"

	"github.com/locksim/locksim/history"
)

// Two clients hold both locks and write both objects, each object under its own lock and in
// the order of that lock's grants. One client comes first for one object, and the other
// client for the other object. That violates serial-sections, because a client's work under
// several locks is one piece of work. In the scripts, which are described at [script],
// "within" is the outer section of a nested one.
func TestSerialOrderOfNestedSections(t *testing.T) {
	both := `
			lock a ttl=30s
			lock b ttl=30s
			0s  c1 acquires lock=a rank=1
			0s  c2 acquires lock=b rank=1
			31s c1 acquires lock=b rank=2 within=1
			32s c2 acquires lock=a rank=2 within=1
			33s c1 writes a=0>1 section=1`
	judgeAll(t, SerialSections, []judgement{
		{name: "each client comes first for one of the objects", want: Violated, reasonParts: []string{"c1 (section 1, lock a) and c2 (section 1, lock b) cannot have run one after the other"}, script: both + `
			34s c2 writes b=0>1 section=1
			35s c1 writes b=1>2 section=2
			36s c2 writes a=1>2 section=2 <--`},
		{name: "one client comes first for both objects", want: Holds, script: both + `
			34s c1 writes b=0>1 section=2
			35s c2 writes b=1>2 section=1
			36s c2 writes a=1>2 section=2`},
		{name: "the same writes, and no client held two locks at the same time", want: Holds, script: `
			lock a ttl=30s
			lock b ttl=30s
			0s  c1 acquires lock=a rank=1
			0s  c2 acquires lock=b rank=1
			31s c1 acquires lock=b rank=2
			32s c2 acquires lock=a rank=2
			33s c1 writes a=0>1 section=1
			34s c2 writes b=0>1 section=1
			35s c1 writes b=1>2 section=2
			36s c2 writes a=1>2 section=2`},
		{name: "another client sees one of two nested writes", want: Violated, script: `
			lock a ttl=30s
			lock b ttl=30s
			0s c1 acquires lock=a rank=1
			1s c1 acquires lock=b rank=1 within=1
			2s c1 writes a=0>1 section=1
			3s c3 acquires lock=a rank=2
			4s c3 reads a=1
			5s c3 acquires lock=b rank=2 within=1
			6s c3 reads b=0 section=2
			7s c1 writes b=0>1 section=2 <--`},
		{name: "another client sees both nested writes", want: Holds, script: `
			lock a ttl=30s
			lock b ttl=30s
			0s c1 acquires lock=a rank=1
			1s c1 acquires lock=b rank=1 within=1
			2s c1 writes a=0>1 section=1
			3s c3 acquires lock=a rank=2
			4s c3 reads a=1
			5s c3 acquires lock=b rank=2 within=1
			6s c1 writes b=0>1 section=2
			7s c3 reads b=1 section=2`},
		{name: "a client whose only nested write is refused reads an object twice", want: Holds, script: `
			lock a ttl=30s
			lock b ttl=30s
			0s c1 acquires lock=a rank=1
			1s c1 acquires lock=b rank=1 within=1
			2s c1 reads a=0 section=1
			3s c2 acquires lock=a rank=2
			4s c2 writes a=0>1
			5s c1 reads a=1 section=1
			6s c1 is-refused section=2`},
	})
}

// A write to an object with a lock's name is judged by that lock, any other write by all
// locks of its client.
func TestGrantOrderOfNestedSections(t *testing.T) {
	judgeAll(t, GrantOrder, []judgement{
		{name: "the object's own lock was granted to another client", want: Violated, reasonParts: []string{"c1 (section 2, lock b)'s write of b"}, script: `
			lock a ttl=30s
			lock b ttl=30s
			0s  c1 acquires lock=a rank=1
			1s  c1 acquires lock=b rank=1 within=1
			40s c2 acquires lock=b rank=2
			41s c1 writes b=0>1 section=2 <--`},
		{name: "the client's other lock was granted to another client", want: Holds, script: `
			lock a ttl=30s
			lock b ttl=30s
			0s  c1 acquires lock=a rank=1
			1s  c1 acquires lock=b rank=1 within=1
			40s c2 acquires lock=b rank=2
			41s c1 writes a=0>1 section=1`},
		{name: "an object that both locks protect, and one lock was granted to another client", want: Violated, script: `
			lock a ttl=30s
			lock b ttl=30s
			0s  c1 acquires lock=a rank=1
			1s  c1 acquires lock=b rank=1 within=1
			40s c2 acquires lock=b rank=2
			41s c1 writes x=0>1 section=1 <--`},
	})
}

// Clients that wait for each other get no work done. The finding says which client waits
// for which.
func TestProgressOfNestedSections(t *testing.T) {
	judgeAll(t, Progress, []judgement{
		{name: "two clients wait for each other", want: Violated, reasonParts: []string{"c1 holds a and waits for b, which c2 holds", "c2 holds b and waits for a, which c1 holds"}, script: `
			lock a ttl=30s
			lock b ttl=30s
			0s  c1 acquires lock=a rank=1
			0s  c2 acquires lock=b rank=1
			1s  c1 calls lock=b within=1
			1s  c2 calls lock=a within=1
			1s  c1 fails lock=b within=1
			60s the-run is-cut-off <--`},
		{name: "three clients wait for each other, and a fourth waits for one of them", want: Violated, reasonParts: []string{"c1 holds a and waits for b, which c2 holds", "c2 holds b and waits for L, which c3 holds", "c3 holds L and waits for a"}, script: `
			lock a ttl=30s
			lock b ttl=30s
			0s  c4 calls lock=a
			0s  c1 acquires lock=a rank=1
			0s  c2 acquires lock=b rank=1
			0s  c3 acquires lock=L rank=1
			1s  c1 calls lock=b within=1
			1s  c2 calls lock=L within=1
			1s  c3 calls lock=a within=1
			60s the-run is-cut-off <--`},
		{name: "one client waits for the other, which works", want: Holds, script: `
			lock a ttl=30s
			lock b ttl=30s
			0s  c1 acquires lock=a rank=1
			0s  c2 acquires lock=b rank=1
			1s  c1 calls lock=b within=1
			2s  c2 writes b=0>1
			3s  c2 releases
			4s  c1 acquires lock=b rank=2 within=1
			5s  c1 writes b=1>2
			6s  c1 releases section=2
			7s  c1 releases section=1`},
		{name: "the second lock is never released", want: Violated, script: `
			lock a ttl=30s
			0s  c1 acquires rank=1
			0s  c1 acquires lock=a rank=1 within=1
			5s  c1 writes L=0>1 section=1
			7s  c1 releases section=1
			60s the-run is-cut-off <--`},
	})
}

// If one of the nested sections took effect only in part, the whole work did, whichever
// lock protects that section.
func TestTornNestedSections(t *testing.T) {
	s := parseScript(t, `
			lock a ttl=30s
			0s c1 acquires rank=1
			1s c1 acquires lock=a rank=1 within=1
			2s c1 writes x=0>1 section=1
			3s c1 is-refused section=2
			4s c1 releases section=2
			5s c1 releases section=1`)
	torn := Check(history.New(s.trace), nil).Torn
	if len(torn) != 1 || torn[0].Section != 1 || torn[0].Reason.Code != Code(tornByRefusals) {
		t.Errorf("the torn sections are %+v, want section 1, torn by refusals", torn)
	}
}

// Work that a handle does in the background has the number of the section that its client
// is busy with. So a key that was set while the client asked for another lock may still
// belong to the handle: it does if it is a key of the handle's own lock.
func TestReleaseOwnershipOfNestedSections(t *testing.T) {
	two := `
			lock a ttl=30s keys=ka
			lock b ttl=30s keys=kb
			0s  c1 acquires lock=a rank=1
			1s  c1 calls lock=b within=1
`
	judgeAll(t, ReleaseOwnership, []judgement{
		{name: "a key of the handle's own lock, set while its client asks for the other lock", want: Holds, script: two + `
			2s  A sets key=ka by=c1/2
			5s  A deletes key=ka by=c1/1 of=c1/2`},
		{name: "a key of the other lock", want: Violated, script: two + `
			2s  A sets key=kb by=c1/2
			5s  A deletes key=kb by=c1/1 of=c1/2 <--`},
		{name: "a key that another client set", want: Violated, script: two + `
			2s  A sets key=ka by=c2/2
			5s  A deletes key=ka by=c1/1 of=c2/2 <--`},
	})
}
