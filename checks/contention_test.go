package checks

import (
	"testing"

	"github.com/locksim/locksim/history"
)

// A lock is not to blame if its clients only block each other. It is to blame if a failed
// attempt leaves keys that block others.
func TestWhoIsInTheWay(t *testing.T) {
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
		fault Blame
		story string
	}{
		{"two who ask at once split the votes", Blame{}, splits + `
			2s A deletes by=c1/1
			2s B deletes by=c2/1
			3s c1 fails
			3s c2 fails
			4s c1 is-done`},
		{"what one of them has left behind is in the way of the other", BlameLock, splits + `
			2s B deletes by=c2/1
			3s c1 fails
			4s c2 fails
			4s c1 is-done`},
		{"nobody was in the way of the second attempt", BlameLock, splits + `
			2s A deletes by=c1/1
			2s B deletes by=c2/1
			3s c1 fails
			3s c2 fails
			4s c1 fails
			4s c1 is-done`},
		{"a client that crashed has left its keys", Blame{}, `
			0s c1 calls
			0s A sets by=c1/1 ttl=30s
			1s c1 crashes
			2s c2 fails
			3s c2 is-done`},
		{"but for longer than their TTL", BlameLock, `
			0s c1 calls
			0s A sets by=c1/1 ttl=30s
			1s c1 crashes
			30s c2 fails
			31s c2 is-done`},
		{"or for longer than the lock's", BlameLock, `
			0s c1 calls
			0s A sets by=c1/1 ttl=300s
			1s c1 crashes
			31s c2 fails
			32s c2 is-done`},
		{"or for ever", BlameLock, `
			0s c1 calls
			0s A sets by=c1/1
			1s c1 crashes
			2s c2 fails
			3s c2 is-done`},
		{"a client holds the lock", Blame{}, `
			0s c1 calls
			0s A sets by=c1/1 ttl=30s
			1s c1 acquires rank=1
			2s c2 fails
			3s c2 is-done`},
		{"nobody has failed", BlameLock, `
			0s c1 calls
			9s c1 is-cut-off`},
		{"who waits, waits for somebody who holds the lock", Blame{}, holds + `
			9s c2 is-cut-off`},
		{"who has released it, and left its keys", BlameLock, holds + `
			3s c1 releases
			9s c2 is-cut-off`},
		{"because it is cut off from them", Blame{}, holds + `
			2s fault-1 strikes cuts=c1 from=A,B,C,D,E
			3s c1 releases
			9s c2 is-cut-off`},
		{"but for longer than their TTL", BlameLock, holds + `
			2s fault-1 strikes cuts=c1 from=A,B,C,D,E
			3s c1 releases
			31s c2 is-cut-off`},
		{"a minority is left to whoever holds the lock", BlameLock, `
			0s c1 calls
			0s A sets by=c1/1 ttl=30s
			0s B sets by=c1/1 ttl=30s
			1s c1 acquires rank=1
			1s c2 calls
			9s c2 is-cut-off`},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := Check(history.New(parseScript(t, test.story).trace), nil).Finding(Progress)
			if f.Outcome != Violated || f.Blame != test.fault {
				t.Errorf("progress is %s, the fault %q (%s); want %q", f.Outcome, f.Blame, f.Reason, test.fault)
			}
		})
	}
}
