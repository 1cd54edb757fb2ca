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
// itself declares that end.
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
		{"it does not end by itself", held, history.Never},
		{"the server has ended it, and nobody knows", held + `
			5s  A drops of=c1/1`, history.Never},
		{"the client sees the error", held + ` notifies
			5s  A drops of=c1/1
			6s  c1 is-told-it-is-lost`, history.StartOf(6 * time.Second)},
		{"it is released", held + `
			7s  c1 releases`, history.StartOf(7 * time.Second)},
		{"the client has set a timeout", held + ` ends=12s`, history.StartOf(12 * time.Second)},
		{"and has extended it by another statement", held + ` ends=12s
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
	const another = `
			8s  c2 calls
			9s  A sets by=c2/1
			9s  c2 acquires rank=2`
	judgeAll(t, LeaseExclusion, []judgement{
		{name: "the connection is cut, and the holder goes on", want: Violated, blame: BlameAssumption(trace.AssumeNetwork), script: held + `
			5s  A drops of=c1/1` + another + ` <--`},
		{name: "the server has crashed", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: held + `
			5s  A crashes
			6s  A restarts
			6s  A forgets of=c1/1` + another + ` <--`},
		{name: "somebody else has deleted it", want: Violated, blame: BlameLock, script: held + `
			5s  A deletes of=c1/1 by=c2/1` + another + ` <--`},
		{name: "the holder has seen the error before", want: Holds, script: held + ` notifies
			5s  A drops of=c1/1
			6s  c1 is-told-it-is-lost` + another},
		{name: "the holder has released it before", want: Holds, script: held + `
			5s  A deletes of=c1/1 by=c1/1
			6s  c1 releases` + another},
		{name: "the holder had set a timeout, which is over", want: Holds, script: held + ` ends=7s
			7s  A drops of=c1/1` + another},
		{name: "the server ended it before that timeout", want: Violated, blame: BlameAssumption(trace.AssumeNetwork), script: held + ` ends=12s
			7s  A drops of=c1/1` + another + ` <--`},
	})
}
