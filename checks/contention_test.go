package checks

import (
	"testing"

	"github.com/locksim/locksim/history"
)

// A lock is not to blame if its clients only block each other. It is to blame if a failed
// attempt leaves keys that block others. With the zero Blame nobody is to blame. The scripts are
// traces written by hand; see [script].
func TestBlameForContention(t *testing.T) {
	const splits = `
			1s c1 calls
			1s c2 calls
			1s A sets by=c1/1 ttl=30s
			1s B sets by=c2/1 ttl=30s value=value-2`
	const holds = `
			0s c1 calls
			0s A sets by=c1/1 ttl=30s
			0s B sets by=c1/1 ttl=30s
			0s C sets by=c1/1 ttl=30s
			1s c1 acquires rank=1
			1s c2 calls`
	for _, test := range []struct {
		name  string
		blame Blame
		story string
	}{
		{"two clients ask at the same time and split the nodes", Blame{}, splits + `
			2s A deletes by=c1/1
			2s B deletes by=c2/1
			3s c1 fails
			3s c2 fails
			4s c1 is-done`},
		{"the key that a failed attempt left blocks another client", BlameLock, splits + `
			2s B deletes by=c2/1
			3s c1 fails
			4s c2 fails
			4s c1 is-done`},
		{"no key blocks the second attempt, which fails", BlameLock, splits + `
			2s A deletes by=c1/1
			2s B deletes by=c2/1
			3s c1 fails
			3s c2 fails
			4s c1 fails
			4s c1 is-done`},
		{"keys of a crashed client block another client", Blame{}, `
			0s c1 calls
			0s A sets by=c1/1 ttl=30s
			1s c1 crashes
			2s c2 fails
			3s c2 is-done`},
		{"keys of a crashed client block another client for longer than their TTL", BlameLock, `
			0s c1 calls
			0s A sets by=c1/1 ttl=30s
			1s c1 crashes
			30s c2 fails
			31s c2 is-done`},
		{"keys of a crashed client block another client for longer than the lock's TTL", BlameLock, `
			0s c1 calls
			0s A sets by=c1/1 ttl=300s
			1s c1 crashes
			31s c2 fails
			32s c2 is-done`},
		{"keys of a crashed client without a TTL block another client", BlameLock, `
			0s c1 calls
			0s A sets by=c1/1
			1s c1 crashes
			2s c2 fails
			3s c2 is-done`},
		{"a client that holds the lock blocks another client", Blame{}, `
			0s c1 calls
			0s A sets by=c1/1 ttl=30s
			1s c1 acquires rank=1
			2s c2 fails
			3s c2 is-done`},
		{"an acquire waits, and no attempt has failed", BlameLock, `
			0s c1 calls
			9s c1 is-cut-off`},
		{"a client waits for the holder of the lock", Blame{}, holds + `
			9s c2 is-cut-off`},
		{"a client waits for keys that a release left", BlameLock, holds + `
			3s c1 releases
			9s c2 is-cut-off`},
		{"a client waits for keys that a release left because its client was cut off", Blame{}, holds + `
			2s fault-1 strikes cuts=c1 from=A,B,C,D,E
			3s c1 releases
			9s c2 is-cut-off`},
		{"a client waits for longer than their TTL for keys that a release left because its client was cut off", BlameLock, holds + `
			2s fault-1 strikes cuts=c1 from=A,B,C,D,E
			3s c1 releases
			31s c2 is-cut-off`},
		{"a client waits for a holder with keys on a minority of the nodes", BlameLock, `
			0s c1 calls
			0s A sets by=c1/1 ttl=30s
			0s B sets by=c1/1 ttl=30s
			1s c1 acquires rank=1
			1s c2 calls
			9s c2 is-cut-off`},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := Check(history.New(parseScript(t, test.story).trace), nil).Finding(Progress)
			if f.Outcome != Violated || f.Blame != test.blame {
				t.Errorf("progress is %s, blame %q (%s); want violated, blame %q", f.Outcome, f.Blame, f.Reason, test.blame)
			}
		})
	}
}
