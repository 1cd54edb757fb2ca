package checks

import (
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// If a lock renews its lease by itself and declares no end, the lease lasts for as long as
// its holder may rely on the keys. The scripts are traces written by hand; see [script].
func TestLeaseOfALockThatNotifies(t *testing.T) {
	const held = `
			lock L ttl=30s nodes=A quorum=1
			0s  c1 calls
			1s  A sets by=c1/1 ttl=30s
			2s  c1 acquires rank=1 notifies`
	const three = `
			lock L ttl=30s nodes=ABC quorum=2
			0s  c1 calls
			1s  A sets by=c1/1 ttl=30s
			2s  B sets by=c1/1 ttl=30s
			3s  C sets by=c1/1 ttl=30s
			4s  c1 acquires rank=1 notifies`
	for _, test := range []struct {
		name, story string
		want        time.Duration
	}{
		{"the lease lasts for the TTL of the key", held, 31 * time.Second},
		{"the lease lasts for the TTL since the last renewal", held + `
			20s A touches of=c1/1 by=c1/1 ttl=30s`, 50 * time.Second},
		{"the lease lasts while a quorum of keys lasts", three, 32 * time.Second},
		{"one of three keys is renewed", three + `
			20s A touches of=c1/1 by=c1/1 ttl=30s`, 33 * time.Second},
		{"two of three keys are renewed", three + `
			20s A touches of=c1/1 by=c1/1 ttl=30s
			21s C touches of=c1/1 by=c1/1 ttl=30s`, 50 * time.Second},
		{"the node forgets the key", held + `
			10s A forgets of=c1/1`, 31 * time.Second},
		{"another client removes the key", held + `
			10s A deletes of=c1/1 by=c2/1`, 31 * time.Second},
		{"the client removes its own key", held + `
			10s A deletes of=c1/1 by=c1/1`, 10 * time.Second},
		{"the client sets the key again after it has expired", held + `
			31s A expires of=c1/1
			40s A sets by=c1/1 ttl=30s`, 70 * time.Second},
		{"the key expired before acquire returned", `
			lock L ttl=30s nodes=A quorum=1
			0s  c1 calls
			1s  A sets by=c1/1 ttl=30s
			40s c1 acquires rank=1 notifies`, 40 * time.Second},
		{"the key has a short TTL because the node's clock was set", `
			lock L ttl=30s nodes=A quorum=1
			0s  A shows wall=28s monotonic=0s why=jump
			0s  c1 calls
			1s  A sets by=c1/1 ttl=2s
			2s  c1 acquires rank=1 notifies`, 31 * time.Second},
		{"the key has a short TTL because the client's clock was set", `
			lock L ttl=30s nodes=A quorum=1
			0s  c1 shows wall=28s monotonic=0s why=jump
			0s  c1 calls
			1s  A sets by=c1/1 ttl=2s
			2s  c1 acquires rank=1 notifies`, 31 * time.Second},
		{"the key has a short TTL, and the client's clock was set but the lock does not read it", `
			lock L ttl=30s nodes=A quorum=1 true-time
			0s  c1 shows wall=28s monotonic=0s why=jump
			0s  c1 calls
			1s  A sets by=c1/1 ttl=2s
			2s  c1 acquires rank=1 notifies`, 3 * time.Second},
		{"the key has a short TTL although no clock was set", `
			lock L ttl=30s nodes=A quorum=1
			0s  c1 calls
			1s  A sets by=c1/1 ttl=2s
			2s  c1 acquires rank=1 notifies`, 3 * time.Second},
		{"the lock notifies the client before the key ends", held + `
			10s c1 is-told-it-is-lost`, 10 * time.Second},
		{"the lock notifies the client after the key would have ended", held + `
			40s c1 is-told-it-is-lost`, 31 * time.Second},
		{"the end that the lock declares counts", `
			lock L ttl=30s nodes=A quorum=1
			0s  c1 calls
			1s  A sets by=c1/1 ttl=30s
			2s  c1 acquires rank=1 ends=25s notifies`, 25 * time.Second},
		{"the keys never exist on a quorum", `
			0s  c1 calls
			1s  A sets by=c1/1 ttl=30s
			2s  c1 acquires rank=1 notifies`, history.Never.At},
		{"the lock set no key", `
			0s  c1 acquires rank=1 notifies`, history.Never.At},
		{"a lock without a TTL", `
			lock L ttl=0s nodes=A quorum=1
			0s  c1 calls
			1s  A sets by=c1/1
			2s  c1 acquires rank=1 notifies`, history.Never.At},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := history.New(parseScript(t, test.story).trace)
			if got := h.Sections()[0].Lease.End().At; got != test.want {
				t.Errorf("the lease ends at %v, want %v", got, test.want)
			}
		})
	}
}

// A lock must notify of a loss before the lease ends. The lock is to blame if it did not,
// its client would have stopped, and another client was already in its section.
func TestBlameForLateNotification(t *testing.T) {
	const held = `
			lock L ttl=30s nodes=A quorum=1
			0s  c1 calls
			0s  A sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 notifies`
	judgeAll(t, SectionExclusion, []judgement{
		{name: "the lock notifies when the lease ends", want: Violated, blame: BlameInherent, script: held + `
			30s c1 is-told-it-is-lost
			31s c2 acquires rank=2 ends=60s <--
			41s c1 releases`},
		{name: "the lock notifies after the lease has ended", want: Violated, blame: BlameLock,
			reasonParts: []string{"c1's lease ended at 30s, but the lock reported the loss only at 40s"}, script: held + `
			31s c2 acquires rank=2 ends=60s <--
			40s c1 is-told-it-is-lost
			41s c1 releases`},
		{name: "the lock never notifies", want: Violated, blame: BlameLock,
			reasonParts: []string{"c1's lease ended at 30s, and the lock never reported the loss"}, script: held + `
			31s c2 acquires rank=2 ends=60s <--
			41s c1 releases`},
		{name: "a lock that declares the end of the lease notifies late", want: Violated, blame: BlameLock, script: `
			0s  c1 acquires rank=1 ends=30s notifies
			31s c2 acquires rank=2 ends=60s <--
			40s c1 is-told-it-is-lost
			41s c1 releases`},
		{name: "a lock that declares the end of the lease and does not promise to notify", want: Violated, blame: BlameInherent, script: `
			0s  c1 acquires rank=1 ends=30s
			31s c2 acquires rank=2 ends=60s <--
			41s c1 releases`},
		{name: "notified late, but before another client entered its section", want: Violated, blame: BlameInherent, script: held + `
			35s c1 is-told-it-is-lost
			36s c2 acquires rank=2 ends=60s <--
			41s c1 releases`},
		{name: "notified late, and no other client was in its section", want: Holds, script: held + `
			40s c1 is-told-it-is-lost
			41s c1 releases
			42s c2 acquires rank=2 ends=72s`},
		{name: "the client is paused, and notified as soon as it resumes", want: Violated, blame: BlameInherent, script: held + `
			10s c1 pauses
			31s c2 acquires rank=2 ends=60s <--
			40s c1 resumes
			40s c1 is-told-it-is-lost
			41s c1 releases`},
		{name: "the client is paused, and notified some time after it resumed", want: Violated, blame: BlameLock, script: held + `
			10s c1 pauses
			31s c2 acquires rank=2 ends=60s <--
			35s c1 resumes
			40s c1 is-told-it-is-lost
			41s c1 releases`},
		{name: "the client is paused, and resumes after the other client has released", want: Violated, blame: BlameInherent, script: held + `
			10s c1 pauses
			31s c2 acquires rank=2 ends=60s <--
			34s c2 releases
			35s c1 resumes
			40s c1 is-told-it-is-lost
			41s c1 releases`},
		{name: "a third client is paused", want: Violated, blame: BlameLock, script: held + `
			10s c3 pauses
			31s c2 acquires rank=2 ends=60s <--
			40s c3 resumes
			40s c1 is-told-it-is-lost
			41s c1 releases`},
		{name: "the client writes after the notification", want: Violated, blame: BlameInherent, script: held + `
			31s c2 acquires rank=2 ends=60s <--
			35s c1 is-told-it-is-lost
			36s c1 writes x=0>1
			41s c1 releases`},
		{name: "the client writes before the notification", want: Violated, blame: BlameLock, script: held + `
			31s c2 acquires rank=2 ends=60s <--
			34s c1 writes x=0>1
			35s c1 is-told-it-is-lost
			41s c1 releases`},
		{name: "the client's clock runs slow", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: held + `
			2s  c1 shows wall=2s monotonic=2s ppb=-500000000 why=drift
			31s c2 acquires rank=2 ends=60s <--
			40s c1 is-told-it-is-lost
			41s c1 releases`},
		{name: "the client's clock runs slow, and the lock does not read it", want: Violated, blame: BlameLock, script: `
			lock L ttl=30s nodes=A quorum=1 true-time
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			0s  A sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 notifies
			2s  c1 shows wall=2s monotonic=2s ppb=-500000000 why=drift
			31s c2 acquires rank=2 ends=60s <--
			40s c1 is-told-it-is-lost
			41s c1 releases`},
		{name: "the node has lost the key", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: held + `
			2s  A forgets of=c1/1
			9s  c2 acquires rank=2 ends=39s <--
			10s c1 is-told-it-is-lost
			11s c1 releases`},
	})
}

// NotifiedLate measures how late a client was notified, whether or not another client was
// in its section.
func TestNotifiedLate(t *testing.T) {
	const held = `
			0s  c1 acquires rank=1 ends=30s notifies`
	for name, test := range map[string]struct {
		story string
		want  time.Duration
	}{
		"at the end of the lease": {held + `
			30s c1 is-told-it-is-lost`, 0},
		"a microsecond after the end of the lease": {held + `
			30.000001s c1 is-told-it-is-lost`, 0},
		"two microseconds after the end of the lease": {held + `
			30.000002s c1 is-told-it-is-lost`, 2 * time.Microsecond},
		"the client is paused between the end of the lease and the notification": {held + `
			32s c1 pauses
			35s c1 resumes
			40s c1 is-told-it-is-lost`, 7 * time.Second},
		"the client is paused from before the end of the lease until after it": {held + `
			10s c1 pauses
			35s c1 resumes
			36s c1 is-told-it-is-lost`, time.Second},
		"the client released before the notification": {held + `
			32s c1 releases
			40s c1 is-told-it-is-lost`, 2 * time.Second},
		"the lock never notifies": {held + `
			40s c1 releases`, 0},
	} {
		h := history.New(parseScript(t, test.story).trace)
		if got := h.NotifiedLate(h.Sections()[0]); got != test.want {
			t.Errorf("%s: notified %v late, want %v", name, got, test.want)
		}
	}
}
