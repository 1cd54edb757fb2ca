package checks

import (
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// If a lock renews its lease by itself and declares no end, the lease lasts for as long as
// its holder may rely on the keys.
func TestLeaseOfALockThatTells(t *testing.T) {
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
		{"until its key has stood for its TTL", held, 31 * time.Second},
		{"since it was last prolonged", held + `
			20s A touches of=c1/1 by=c1/1 ttl=30s`, 50 * time.Second},
		{"on a quorum", three, 32 * time.Second},
		{"prolonged on a minority", three + `
			20s A touches of=c1/1 by=c1/1 ttl=30s`, 33 * time.Second},
		{"prolonged on a quorum", three + `
			20s A touches of=c1/1 by=c1/1 ttl=30s
			21s C touches of=c1/1 by=c1/1 ttl=30s`, 50 * time.Second},
		{"its node loses the key", held + `
			10s A forgets of=c1/1`, 31 * time.Second},
		{"somebody else takes the key away", held + `
			10s A deletes of=c1/1 by=c2/1`, 31 * time.Second},
		{"it takes the key away by itself", held + `
			10s A deletes of=c1/1 by=c1/1`, 10 * time.Second},
		{"it sets the key anew when it had ended", held + `
			31s A expires of=c1/1
			40s A sets by=c1/1 ttl=30s`, 70 * time.Second},
		{"its key ended before acquire returned", `
			lock L ttl=30s nodes=A quorum=1
			0s  c1 calls
			1s  A sets by=c1/1 ttl=30s
			40s c1 acquires rank=1 notifies`, 40 * time.Second},
		{"its node's clock was set, so that the end it is to have is near", `
			lock L ttl=30s nodes=A quorum=1
			0s  A shows wall=28s monotonic=0s why=jump
			0s  c1 calls
			1s  A sets by=c1/1 ttl=2s
			2s  c1 acquires rank=1 notifies`, 31 * time.Second},
		{"its client's clock was set, so that the end it is to have is near", `
			lock L ttl=30s nodes=A quorum=1
			0s  c1 shows wall=28s monotonic=0s why=jump
			0s  c1 calls
			1s  A sets by=c1/1 ttl=2s
			2s  c1 acquires rank=1 notifies`, 31 * time.Second},
		{"which its lock does not read", `
			lock L ttl=30s nodes=A quorum=1 true-time
			0s  c1 shows wall=28s monotonic=0s why=jump
			0s  c1 calls
			1s  A sets by=c1/1 ttl=2s
			2s  c1 acquires rank=1 notifies`, 3 * time.Second},
		{"the end it is to have is near", `
			lock L ttl=30s nodes=A quorum=1
			0s  c1 calls
			1s  A sets by=c1/1 ttl=2s
			2s  c1 acquires rank=1 notifies`, 3 * time.Second},
		{"it is notified of its loss", held + `
			10s c1 is-told-it-is-lost`, 10 * time.Second},
		{"it is notified of its loss too late", held + `
			40s c1 is-told-it-is-lost`, 31 * time.Second},
		{"what the lock declares counts", `
			lock L ttl=30s nodes=A quorum=1
			0s  c1 calls
			1s  A sets by=c1/1 ttl=30s
			2s  c1 acquires rank=1 ends=25s notifies`, 25 * time.Second},
		{"its keys never stood on a quorum", `
			0s  c1 calls
			1s  A sets by=c1/1 ttl=30s
			2s  c1 acquires rank=1 notifies`, history.Never.At},
		{"nobody knows its keys", `
			0s  c1 acquires rank=1 notifies`, history.Never.At},
		{"it has no TTL", `
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
func TestWhoseFaultALateNotificationIs(t *testing.T) {
	const held = `
			lock L ttl=30s nodes=A quorum=1
			0s  c1 calls
			0s  A sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 notifies`
	judgeAll(t, SectionExclusion, []judgement{
		{name: "notified in time", want: Violated, blame: BlameInherent, script: held + `
			30s c1 is-told-it-is-lost
			31s c2 acquires rank=2 ends=60s <--
			41s c1 releases`},
		{name: "notified late", want: Violated, blame: BlameLock,
			reasonParts: []string{"c1's lease ended at 30s, but the lock reported the loss only at 40s"}, script: held + `
			31s c2 acquires rank=2 ends=60s <--
			40s c1 is-told-it-is-lost
			41s c1 releases`},
		{name: "not notified", want: Violated, blame: BlameLock,
			reasonParts: []string{"c1's lease ended at 30s, and the lock never reported the loss"}, script: held + `
			31s c2 acquires rank=2 ends=60s <--
			41s c1 releases`},
		{name: "a lock that says when the lease ends, and tells late", want: Violated, blame: BlameLock, script: `
			0s  c1 acquires rank=1 ends=30s notifies
			31s c2 acquires rank=2 ends=60s <--
			40s c1 is-told-it-is-lost
			41s c1 releases`},
		{name: "and does not tell", want: Violated, blame: BlameInherent, script: `
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
		{name: "notified as soon as it runs again", want: Violated, blame: BlameInherent, script: held + `
			10s c1 pauses
			31s c2 acquires rank=2 ends=60s <--
			40s c1 resumes
			40s c1 is-told-it-is-lost
			41s c1 releases`},
		{name: "notified some time after it runs again", want: Violated, blame: BlameLock, script: held + `
			10s c1 pauses
			31s c2 acquires rank=2 ends=60s <--
			35s c1 resumes
			40s c1 is-told-it-is-lost
			41s c1 releases`},
		{name: "it runs again when the other has left", want: Violated, blame: BlameInherent, script: held + `
			10s c1 pauses
			31s c2 acquires rank=2 ends=60s <--
			34s c2 releases
			35s c1 resumes
			40s c1 is-told-it-is-lost
			41s c1 releases`},
		{name: "another is paused", want: Violated, blame: BlameLock, script: held + `
			10s c3 pauses
			31s c2 acquires rank=2 ends=60s <--
			40s c3 resumes
			40s c1 is-told-it-is-lost
			41s c1 releases`},
		{name: "it does not heed the signal", want: Violated, blame: BlameInherent, script: held + `
			31s c2 acquires rank=2 ends=60s <--
			35s c1 is-told-it-is-lost
			36s c1 writes x=0>1
			41s c1 releases`},
		{name: "it writes, and is then notified", want: Violated, blame: BlameLock, script: held + `
			31s c2 acquires rank=2 ends=60s <--
			34s c1 writes x=0>1
			35s c1 is-told-it-is-lost
			41s c1 releases`},
		{name: "its clock runs slow", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: held + `
			2s  c1 shows wall=2s monotonic=2s ppb=-500000000 why=drift
			31s c2 acquires rank=2 ends=60s <--
			40s c1 is-told-it-is-lost
			41s c1 releases`},
		{name: "its clock runs slow, and its lock does not read it", want: Violated, blame: BlameLock, script: `
			lock L ttl=30s nodes=A quorum=1 true-time
			0s  c1 shows wall=0s monotonic=0s
			0s  c1 calls
			0s  A sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 notifies
			2s  c1 shows wall=2s monotonic=2s ppb=-500000000 why=drift
			31s c2 acquires rank=2 ends=60s <--
			40s c1 is-told-it-is-lost
			41s c1 releases`},
		{name: "its node has lost the key", want: Violated, blame: BlameAssumption(trace.AssumeLockMemory), script: held + `
			2s  A forgets of=c1/1
			9s  c2 acquires rank=2 ends=39s <--
			10s c1 is-told-it-is-lost
			11s c1 releases`},
	})
}

// NotifiedLate measures how late a client was notified, whether or not another client was
// in its section.
func TestToldLate(t *testing.T) {
	const held = `
			0s  c1 acquires rank=1 ends=30s notifies`
	for name, test := range map[string]struct {
		story string
		want  time.Duration
	}{
		"in time": {held + `
			30s c1 is-told-it-is-lost`, 0},
		"at once": {held + `
			30.000001s c1 is-told-it-is-lost`, 0},
		"late": {held + `
			30.000002s c1 is-told-it-is-lost`, 2 * time.Microsecond},
		"less the time that it was paused": {held + `
			32s c1 pauses
			35s c1 resumes
			40s c1 is-told-it-is-lost`, 7 * time.Second},
		"paused before, and for longer": {held + `
			10s c1 pauses
			35s c1 resumes
			36s c1 is-told-it-is-lost`, time.Second},
		"when it had released": {held + `
			32s c1 releases
			40s c1 is-told-it-is-lost`, 2 * time.Second},
		"never": {held + `
			40s c1 releases`, 0},
	} {
		h := history.New(parseScript(t, test.story).trace)
		if got := h.NotifiedLate(h.Sections()[0]); got != test.want {
			t.Errorf("%s: notified %v late, want %v", name, got, test.want)
		}
	}
}
