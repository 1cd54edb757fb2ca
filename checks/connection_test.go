package checks

import (
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A lock without a TTL that belongs to a connection or a transaction has a lease without an
// end. It lasts until it is released, or until its client sees that the connection has
// ended. If the client has set a time after which the server ends the lock, the client
// itself declares that end. The scripts are traces written by hand; see [script].
func TestLeaseOnAConnection(t *testing.T) {
	const held = `
			lock L ttl=0s nodes=A quorum=1
			1s  c1 calls
			2s  A sets by=c1/1
			3s  c1 acquires rank=1`
	for _, test := range []struct {
		name, story string
		want        history.Moment
	}{
		{"the lease does not end by itself", held, history.Never},
		{"the server drops the key, which the client does not know", held + `
			5s  A drops of=c1/1`, history.Never},
		{"the server drops the key, and the client sees the error", held + ` notifies
			5s  A drops of=c1/1
			6s  c1 is-told-it-is-lost`, history.StartOf(6 * time.Second)},
		{"the client releases the lock", held + `
			7s  c1 releases`, history.StartOf(7 * time.Second)},
		{"the client has set a timeout", held + ` ends=12s`, history.StartOf(12 * time.Second)},
		{"the client has set a timeout, and another one later", held + ` ends=12s
			8s  c1 extends ends=18s`, history.StartOf(18 * time.Second)},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := history.New(parseScript(t, test.story).trace)
			if got := h.Sections()[0].Lease.End(); got.At != test.want.At {
				t.Errorf("the lease ends at %v, want %v", got, test.want)
			}
		})
	}
}

// If the server ends such a lease earlier, an assumption has broken: the network if the
// connection had ended, the lock's memory if the server had crashed.
func TestLeasesOnConnections(t *testing.T) {
	const held = `
			lock L ttl=0s nodes=A quorum=1
			1s  c1 calls
			2s  A sets by=c1/1
			3s  c1 acquires rank=1`
	const c2Granted = `
			8s  c2 calls
			9s  A sets by=c2/1
			9s  c2 acquires rank=2`
	judgeAll(t, LeaseExclusion, []judgement{
		{name: "the connection is cut, and the holder does not know", want: Violated, blame: BlameAssumption(trace.AssumeNetwork), script: held + `
			5s  A drops of=c1/1` + c2Granted + ` <--`},
		{name: "the server crashes and forgets the key", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: held + `
			5s  A crashes
			6s  A restarts
			6s  A forgets of=c1/1` + c2Granted + ` <--`},
		{name: "another client deletes the key", want: Violated, blame: BlameLock, script: held + `
			5s  A deletes of=c1/1 by=c2/1` + c2Granted + ` <--`},
		{name: "the holder sees the error before c2 is granted the lock", want: Holds, script: held + ` notifies
			5s  A drops of=c1/1
			6s  c1 is-told-it-is-lost` + c2Granted},
		{name: "the holder releases before c2 is granted the lock", want: Holds, script: held + `
			5s  A deletes of=c1/1 by=c1/1
			6s  c1 releases` + c2Granted},
		{name: "the holder's timeout ends before c2 is granted the lock", want: Holds, script: held + ` ends=7s
			7s  A drops of=c1/1` + c2Granted},
		{name: "the server drops the key before the holder's timeout", want: Violated, blame: BlameAssumption(trace.AssumeNetwork), script: held + ` ends=12s
			7s  A drops of=c1/1` + c2Granted + ` <--`},
	})
}
