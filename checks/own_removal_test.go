package checks

import (
	"testing"

	"github.com/locksim/locksim/history"
)

// A lock on three nodes that removes one key of its valid lease still has a quorum. If it removes two,
// it has lost the lease by itself. What its release removes does not count. The scripts are traces
// written by hand; see [script].
func TestOwnRemoval(t *testing.T) {
	const granted = `
		lock L ttl=10s nodes=A,B,C quorum=2
		0s  c1 calls
		0s  A  sets by=c1/1@1
		0s  B  sets by=c1/1@1
		0s  C  sets by=c1/1@1
		1s  c1 acquires rank=1 ends=10s`
	const released = `
		4s  c1 asks-to-release
		4s  B  deletes by=c1/1@1 of=c1/1
		4s  C  deletes by=c1/1@1 of=c1/1
		4s  c1 released`
	for _, test := range []struct {
		name, story string
		want        bool
	}{
		{"one key, and the release removes the others", granted + `
			2s  A  deletes by=c1/1@1 of=c1/1` + released, false},
		{"two keys", granted + `
			2s  A  deletes by=c1/1@1 of=c1/1
			3s  B  deletes by=c1/1@1 of=c1/1`, true},
		{"none before the release", granted + released, false},
	} {
		h := &judgedRun{history.New(parseScript(t, test.story).trace)}
		if k := h.ownRemoval(h.Sections()[0]); (k != nil) != test.want {
			t.Errorf("%s: the key that the lock itself has removed is %v, want one: %v", test.name, k, test.want)
		}
	}
}
