package checks

import (
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A lease on a session lasts until the session's TTL has passed since the client sent its
// last acknowledged sign of life. "hears-that-it-lives" is the arrival of an acknowledgement:
// from it the client knows until when its session lasts. The scripts are traces written by
// hand; see [script].
func TestLeaseOnASession(t *testing.T) {
	const held = `
			lock L ttl=10s members=A
			0s  c1 hears-that-it-lives session=s until=10s
			1s  c1 calls
			2s  cluster sets by=c1/1 ttl=10s
			3s  c1 acquires rank=1 session=s notifies`
	for _, test := range []struct {
		name, story string
		want        time.Duration
	}{
		{"the session lasts a TTL from its beginning", held, 10 * time.Second},
		{"an acknowledged sign of life extends the lease", held + `
			5s  c1 hears-that-it-lives session=s until=14s`, 14 * time.Second},
		{"an acknowledgement arrives after the lease had ended, and extends it", held + `
			12s c1 hears-that-it-lives session=s until=21s`, 21 * time.Second},
		{"an older acknowledgement arrives after a newer one", held + `
			5s  c1 hears-that-it-lives session=s until=15s
			6s  c1 hears-that-it-lives session=s until=14s`, 15 * time.Second},
		{"an extend without a sign of life does not extend the lease", held + `
			5s  c1 extends`, 10 * time.Second},
		{"a sign of life of another session does not count", held + `
			5s  c1 hears-that-it-lives session=other until=15s`, 10 * time.Second},
		{"a sign of life of another client does not count", held + `
			5s  c2 hears-that-it-lives session=s until=15s`, 10 * time.Second},
		{"a sign of life after the release does not count", held + `
			4s  c1 releases
			5s  c1 hears-that-it-lives session=s until=15s`, 4 * time.Second},
		{"a sign of life after the notification does not count", held + `
			4s  c1 is-told-it-is-lost
			5s  c1 hears-that-it-lives session=s until=15s`, 4 * time.Second},
		{"the cluster ends the session before the client knows", held + `
			6s  cluster expires of=c1/1`, 10 * time.Second},
		{"the session ended before acquire returned", `
			lock L ttl=10s members=A
			0s  c1 hears-that-it-lives session=s until=10s
			1s  c1 calls
			15s c1 acquires rank=1 session=s notifies`, 15 * time.Second},
		{"the end that the lock declares counts", `
			lock L ttl=10s members=A
			0s  c1 hears-that-it-lives session=s until=10s
			1s  c1 acquires rank=1 session=s ends=7s
			5s  c1 hears-that-it-lives session=s until=15s`, 7 * time.Second},
		{"a session without any sign of life: the lease lasts a TTL from the call", `
			lock L ttl=10s members=A
			1s  c1 acquires rank=1 session=s`, 11 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := history.New(parseScript(t, test.story).trace)
			if got := h.Sections()[0].Lease.End().At; got != test.want {
				t.Errorf("the lease ends at %v, want %v", got, test.want)
			}
		})
	}
}

// A lock on a session must notify its holder before the end of the lease that the client
// knows of.
func TestLateNotificationOfASession(t *testing.T) {
	const held = `
			lock L ttl=10s members=A
			0s  c1 hears-that-it-lives session=s until=10s
			1s  c1 calls
			2s  cluster sets by=c1/1 ttl=10s
			3s  c1 acquires rank=1 session=s notifies`
	judgeAll(t, SectionExclusion, []judgement{
		{name: "the lock notifies when the lease ends", want: Violated, blame: BlameInherent, script: held + `
			10s c1 is-told-it-is-lost
			12s cluster expires of=c1/1
			13s c2 acquires rank=2 ends=23s <--
			14s c1 releases`},
		{name: "the lock notifies after the lease has ended", want: Violated, blame: BlameLock,
			reasonParts: []string{"c1's lease ended at 10s, but the lock reported the loss only at 14s"}, script: held + `
			12s cluster expires of=c1/1
			13s c2 acquires rank=2 ends=23s <--
			14s c1 is-told-it-is-lost
			15s c1 releases`},
		{name: "the client is paused, and receives an acknowledgement and the notification when it resumes", want: Violated, blame: BlameInherent, script: held + `
			5s  c1 pauses
			12s cluster expires of=c1/1
			13s c2 calls
			13s cluster sets by=c2/1 ttl=10s
			13s c2 acquires rank=2 ends=23s <--
			14s c1 resumes
			14s c1 hears-that-it-lives session=s until=13s
			14s c1 is-told-it-is-lost
			15s c1 releases`},
		{name: "the client is paused, and is notified when it resumes", want: Violated, blame: BlameInherent, script: held + `
			5s  c1 pauses
			12s cluster expires of=c1/1
			13s c2 acquires rank=2 ends=23s <--
			14s c1 resumes
			14s c1 is-told-it-is-lost
			15s c1 releases`},
	})
}

// While its signs of life are acknowledged, a client holds its lease, with one exception: a
// server acknowledges a session that the cluster has ended. Then the cluster may have
// granted the lock to another client already.
func TestLeasesOnSessions(t *testing.T) {
	const held = `
			lock L ttl=10s members=ABC
			0s  c1 hears-that-it-lives session=s until=10s
			1s  c1 calls
			2s  cluster sets by=c1/1 ttl=10s
			3s  c1 acquires rank=1 session=s notifies`
	judgeAll(t, LeaseExclusion, []judgement{
		{name: "the session is acknowledged although the cluster is about to end it", want: Violated, blame: BlameLock, script: held + `
			9s  c1 hears-that-it-lives session=s until=19s
			12s cluster expires of=c1/1
			13s c2 calls
			13s cluster sets by=c2/1 ttl=10s
			13s c2 acquires rank=2 ends=23s <--`},
		{name: "the session is no longer acknowledged", want: Holds, script: held + `
			12s cluster expires of=c1/1
			13s c2 calls
			13s cluster sets by=c2/1 ttl=10s
			13s c2 acquires rank=2 ends=23s`},
		{name: "the cluster's clock runs fast", want: Violated, blame: BlameAssumption(trace.AssumeClock), script: held + `
			4s  A shows wall=4s monotonic=4s ppb=500000000 why=drift
			6s  cluster expires of=c1/1
			7s  c2 calls
			7s  cluster sets by=c2/1 ttl=10s
			7s  c2 acquires rank=2 ends=17s <--`},
	})
	judgeAll(t, ReleaseOwnership, []judgement{
		{name: "a handle ends the session that it shares with another handle, and so removes that handle's lock", want: Violated, script: held + `
			5s  cluster deletes of=c1/1 by=c1/2 <--`},
		{name: "a handle removes its own lock", want: Holds, script: held + `
			5s  cluster deletes of=c1/1 by=c1/1`},
	})
}

// A cluster serves a client if a majority of its members reach each other and the client
// reaches one of them. If the client then gets no work done, the lock is to blame;
// otherwise nobody is.
func TestProgressOnACluster(t *testing.T) {
	for _, test := range []struct {
		name, faults string
		blame        Blame
		reasonPart   string
	}{
		{"no fault", "", BlameLock, "wanted the lock"},
		{"a minority is down", "1s fault-1 strikes kills=A", BlameLock, "a healthy group of 2 of the cluster's 3 members"},
		{"a majority is down", `
			1s fault-1 strikes kills=A
			1s fault-2 strikes kills=B`, Blame{}, ""},
		{"a member is cut off from the others", "1s fault-1 strikes cuts=A from=B,C", BlameLock, "a healthy group of 2 of the cluster's 3 members"},
		{"all members are cut off from each other", `
			1s fault-1 strikes cuts=A from=B,C
			1s fault-2 strikes cuts=B from=C`, Blame{}, ""},
		{"the client reaches only one member, which reaches the others", "1s fault-1 strikes cuts=c1 from=B,C", BlameLock, ""},
		{"the client reaches only one member, which is cut off from the others", `
			1s fault-1 strikes cuts=c1 from=B,C
			1s fault-2 strikes cuts=A from=B,C`, Blame{}, ""},
		{"the client reaches no member", "1s fault-1 strikes cuts=c1 from=A,B,C", Blame{}, ""},
		{"another client is paused", "1s fault-1 strikes stops=c2", BlameLock, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := history.New(parseScript(t, `
			lock L ttl=10s members=ABC
			0s  c1 calls
			`+test.faults+`
			60s world is-cut-off`).trace)
			f := Check(h, nil).Finding(Progress)
			if f.Outcome != Violated || f.Blame != test.blame || !strings.Contains(sentence(f.Reason), test.reasonPart) {
				t.Errorf("progress is %s, blame %q (%s); want violated, blame %q, with %q in the reason", f.Outcome, f.Blame, f.Reason, test.blame, test.reasonPart)
			}
		})
	}
}

// One release notifies a whole thundering herd.
func TestNotifications(t *testing.T) {
	measureAll(t, "notifications", []measurement{
		{"one release notifies three clients, the next one two", `
			lock L ttl=10s members=A
			0s  c1 acquires rank=1
			1s  c2 is-notified
			2s  c1 releases
			3s  c2 is-notified
			3s  c3 is-notified
			3s  c4 is-notified
			4s  c2 acquires rank=2
			5s  c2 releases
			6s  c3 is-notified
			6s  c4 is-notified`,
			"6, at most 3 after one release", "sent=6 most after one release=3"},
		{"a notification without a release", `
			lock L ttl=10s members=A
			0s  c1 acquires rank=1
			1s  c2 is-notified`,
			"1", "sent=1"},
		{"a lock that is not kept in a cluster", `
			0s  c1 acquires rank=1`,
			"n/a: the lock is not kept in a cluster", ""},
	})
}

func TestTraffic(t *testing.T) {
	measureAll(t, "traffic", []measurement{
		{"keep-alive messages and their answers", `
			lock L ttl=10s members=A
			0s  c1 keeps-alive A message=1 bytes=30
			1s  A acknowledges c1 message=1 bytes=12
			2s  c1 acquires rank=1
			3s  c1 releases
			4s  c1 keeps-alive A message=2 bytes=30
			4s  A acknowledges c1 message=2 bytes=12
			5s  c1 acquires rank=2
			6s  c1 releases`,
			"4 messages in 0 round trips (on average 2 in 0 per release), 84 bytes (on average 42 per release)",
			"messages=4 messages per section=2 messages per release=2 " +
				"round trips=0 round trips per section=0 round trips per release=0 " +
				"bytes=84 bytes per section=42 bytes per release=42"},
		{"commands to three nodes at once are one round trip, and a handshake is none", `
			bytes 120
			0s    c1 commands A
			0s    c1 commands B
			900ns c1 commands C
			1s    A answers c1
			1s    B answers c1
			2s    c1 acquires rank=1
			3s    c1 commands A handshake
			4s    c1 commands A
			4s    c2 commands A
			5s    c2 acquires rank=2
			6s    c2 releases`,
			"7 messages in 3 round trips (on average 7 in 3 per release), 120 bytes (on average 120 per release)",
			"messages=7 messages per section=4 messages per release=7 " +
				"round trips=3 round trips per section=2 round trips per release=3 " +
				"bytes=120 bytes per section=60 bytes per release=120"},
		{"commands to two nodes in turn are two round trips, in a trace without a number of bytes", `
			0s  c1 commands A
			1ms c1 commands B
			2s  c1 fails`,
			"2 messages in 2 round trips", "messages=2 round trips=2"},
		{"no messages", `
			0s  c1 acquires rank=1`,
			"n/a: clients and nodes exchanged no messages", ""},
	})
}

func TestRenewals(t *testing.T) {
	measureAll(t, "renewals", []measurement{
		{"signs of life with and without an answer", `
			lock L ttl=10s members=A
			0s  c1 keeps-alive A message=1
			1s  A acknowledges c1 message=1
			2s  c1 keeps-alive A message=2
			3s  A acknowledges c1 message=2 in-vain
			4s  c1 keeps-alive A message=3`,
			"3, of which 2 failed", "tried=3 failed=2"},
		{"an extend that succeeds and one that fails", `
			0s  c1 acquires rank=1 ends=30s
			5s  c1 extends ends=35s
			9s  c1 asks-to-extend
			10s c1 fails-to-extend`,
			"2, of which 1 failed", "tried=2 failed=1"},
		{"no extend", `
			0s  c1 acquires rank=1 ends=30s`,
			"n/a: no client extended a lease", ""},
	})
}
