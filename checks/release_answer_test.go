package checks

import (
	"testing"

	"github.com/locksim/locksim/history"
)

// The scripts are traces written by hand; see [script]. Most have one node, A. A key "of=c1/1"
// was set by c1 in its first section; "<--" marks the line with which the property breaks.
func TestReleaseAnswer(t *testing.T) {
	judgeAll(t, ReleaseAnswer, []judgement{
		{name: "success, and the lock had expired", want: Violated,
			reasonParts: []string{"c1's release returned success at 35s, but released nothing: its key expired on A at 31s"}, script: `
			lock L ttl=30s nodes=A quorum=1
			1s  A sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=31s
			31s A expires of=c1/1
			35s c1 asks-to-release
			35s c1 released <--`},
		{name: "success, and the key was removed", want: Holds, script: `
			lock L ttl=30s nodes=A quorum=1
			1s  A sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=31s
			30s c1 asks-to-release
			30s A deletes by=c1/1 of=c1/1
			30s c1 released`},
		{name: "success, and the lock itself had removed the key of the valid lease", want: Violated, blame: BlameLock,
			reasonParts: []string{"its key was removed by c1 on A at 5s"}, script: `
			lock L ttl=30s nodes=A quorum=1
			1s  A sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=31s
			5s  A deletes by=c1/1 of=c1/1
			9s  c1 asks-to-release
			9s  c1 released <--`},
		{name: "success, and the lock itself had removed the key after the end of the lease", want: NotApplicable, script: `
			lock L ttl=30s nodes=A quorum=1
			1s  A sets by=c1/1 ttl=60s
			1s  c1 acquires rank=1 ends=31s
			35s A deletes by=c1/1 of=c1/1
			39s c1 asks-to-release
			39s c1 released`},
		{name: "an error, and the lock had expired", want: Holds, script: `
			lock L ttl=30s nodes=A quorum=1
			1s  A sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=31s
			31s A expires of=c1/1
			35s c1 asks-to-release
			35s c1 fails-to-release`},
		{name: "success, and another client had taken over the expired lock", want: Violated,
			reasonParts: []string{"its key was taken over by c2 on A at 31s"}, script: `
			lock L ttl=30s nodes=A quorum=1
			1s  A sets by=c1/1
			1s  c1 acquires rank=1 ends=31s
			31s A expires of=c1/1 by=c2/1
			31s A sets by=c2/1
			35s c1 asks-to-release
			35s c1 released <--`},
		{name: "success, and it removed the key of the next holder", want: Violated,
			reasonParts: []string{"its key expired on A at 31s"}, script: `
			lock L ttl=30s nodes=A quorum=1
			1s  A sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=31s
			31s A expires of=c1/1
			32s A sets by=c2/1 ttl=30s
			35s c1 asks-to-release
			35s A deletes by=c1/1 of=c2/1
			35s c1 released <--`},
		{name: "success, and the key was lost in a crash", want: Violated, reasonParts: []string{"its key was lost in a crash on A at 5s"}, script: `
			lock L ttl=30s nodes=A quorum=1
			1s A sets by=c1/1 ttl=30s
			1s c1 acquires rank=1 ends=31s
			5s fault-1 strikes kills=A instant
			5s A crashes
			6s A restarts
			6s A forgets of=c1/1
			9s c1 asks-to-release
			9s c1 released <--`},
		{name: "success, and the connection that held the lock had been lost", want: Violated, reasonParts: []string{"its key was dropped with its connection on A at 5s"}, script: `
			lock L ttl=30s nodes=A quorum=1
			1s A sets by=c1/1
			1s c1 acquires rank=1
			5s A drops of=c1/1
			9s c1 asks-to-release
			9s c1 released <--`},
		{name: "success, and release closed the connection that held the lock", want: Holds, script: `
			lock L ttl=30s nodes=A quorum=1
			1s A sets by=c1/1
			1s c1 acquires rank=1
			9s c1 asks-to-release
			9s c1 released
			9s A drops of=c1/1`},
		{name: "success, and the key expired before the command arrived", want: Violated, reasonParts: []string{"expired on A at 31s"}, script: `
			lock L ttl=30s nodes=A quorum=1
			1s  A sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=31s
			30s c1 asks-to-release
			31s A expires of=c1/1
			32s c1 released <--`},
		{name: "success, and nothing removes the key", want: Violated, blame: BlameLock,
			reasonParts: []string{"c1's release returned success at 9s, but did not remove its key on A"}, script: `
			lock L ttl=30s nodes=A quorum=1
			1s A sets by=c1/1 ttl=30s
			1s c1 acquires rank=1 ends=31s
			9s c1 asks-to-release
			9s c1 released <--`},
		{name: "success, and the key is removed later", want: Holds, script: `
			lock L ttl=30s nodes=A quorum=1
			1s  A sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=31s
			9s  c1 releases
			10s A deletes by=c1/1 of=c1/1`},
		{name: "success, and the key is removed later, while its client acquires the lock again", want: Holds, script: `
			lock L ttl=30s nodes=A quorum=1
			1s  A sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=31s
			9s  c1 releases
			9s  c1 calls
			10s A deletes by=c1/2 of=c1/1`},
		{name: "success, and the command was in flight when the run ended", want: Unknown, reasonParts: []string{"before all messages of c1's release had arrived"}, script: `
			lock L ttl=30s nodes=A quorum=1
			1s A sets by=c1/1 ttl=30s
			1s c1 acquires rank=1 ends=31s
			9s c1 asks-to-release
			9s c1 commands A text=DEL
			9s c1 released`},
		{name: "success, and the key's end is set to an earlier time", want: Holds, script: `
			lock L ttl=30s nodes=A quorum=1
			1s A sets by=c1/1 ttl=30s
			1s c1 acquires rank=1 ends=31s
			9s c1 asks-to-release
			9s A touches by=c1/1 of=c1/1 ttl=1s
			9s c1 released`},
		{name: "success, and the key's end is set to a later time", want: Violated, script: `
			lock L ttl=30s nodes=A quorum=1
			1s A sets by=c1/1 ttl=30s
			1s c1 acquires rank=1 ends=31s
			9s c1 asks-to-release
			9s A touches by=c1/1 of=c1/1 ttl=30s
			9s c1 released <--`},
		{name: "success on a quorum lock with one key left", want: Holds, script: `
			1s A sets by=c1/1 ttl=30s
			1s B sets by=c1/1 ttl=30s
			1s C sets by=c1/1 ttl=30s
			1s c1 acquires rank=1 ends=31s
			5s A expires of=c1/1
			5s B expires of=c1/1
			9s c1 asks-to-release
			9s C deletes by=c1/1 of=c1/1
			9s c1 released`},
		{name: "success on a quorum lock with no key left", want: Violated, reasonParts: []string{"its key expired on C at 6s"}, script: `
			1s A sets by=c1/1 ttl=30s
			1s B sets by=c1/1 ttl=30s
			1s C sets by=c1/1 ttl=30s
			1s c1 acquires rank=1 ends=31s
			5s A expires of=c1/1
			5s B expires of=c1/1
			6s C expires of=c1/1
			9s c1 asks-to-release
			9s c1 released <--`},
		{name: "an error, and the key was removed", want: Violated, blame: BlameLock,
			reasonParts: []string{"c1's release returned an error at 9s, but had removed its key on A at 9s"}, script: `
			lock L ttl=30s nodes=A quorum=1
			1s A sets by=c1/1 ttl=30s
			1s c1 acquires rank=1 ends=31s
			9s c1 asks-to-release
			9s c1 commands A text=DEL
			9s A deletes by=c1/1@5 of=c1/1
			9s A answers c1 arrives
			9s c1 fails-to-release <--`},
		{name: "an error, and the node's answer has not arrived", want: Unknown, reasonParts: []string{"c1's release returned an error at 9s although it had removed the lock at 9s"}, script: `
			lock L ttl=30s nodes=A quorum=1
			1s A sets by=c1/1 ttl=30s
			1s c1 acquires rank=1 ends=31s
			9s c1 asks-to-release
			9s c1 commands A text=DEL
			9s A deletes by=c1/1@5 of=c1/1
			9s A answers c1
			9s c1 fails-to-release`},
		{name: "an error, while a fault acted", want: Unknown, script: `
			lock L ttl=30s nodes=A quorum=1
			1s A sets by=c1/1 ttl=30s
			1s c1 acquires rank=1 ends=31s
			9s c1 asks-to-release
			9s c1 commands A text=DEL
			9s A deletes by=c1/1@5 of=c1/1
			9s fault-1 strikes slows=c1 from=A
			9s A answers c1 arrives
			9s c1 fails-to-release`},
		{name: "an error, and the key was removed after the release had ended", want: Holds, script: `
			lock L ttl=30s nodes=A quorum=1
			1s A sets by=c1/1 ttl=30s
			1s c1 acquires rank=1 ends=31s
			8s c1 asks-to-release
			9s c1 fails-to-release
			9s A deletes by=c1/1 of=c1/1`},
		{name: "an error, and fewer keys than a quorum were removed", want: Holds, script: `
			1s A sets by=c1/1 ttl=30s
			1s B sets by=c1/1 ttl=30s
			1s C sets by=c1/1 ttl=30s
			1s c1 acquires rank=1 ends=31s
			5s C expires of=c1/1
			9s c1 asks-to-release
			9s A deletes by=c1/1 of=c1/1
			9s B deletes by=c1/1 of=c1/1
			9s c1 fails-to-release`},
		{name: "success, twice for the same section", want: Holds, script: `
			lock L ttl=30s nodes=A quorum=1
			1s A sets by=c1/1 ttl=30s
			1s c1 acquires rank=1 ends=31s
			9s c1 asks-to-release
			9s A deletes by=c1/1 of=c1/1
			9s c1 released
			9s c1 releases`},
		{name: "success, without a fault, after the end of the lease", want: Violated, reasonParts: []string{"released nothing"}, script: `
			lock L ttl=30s nodes=A quorum=1
			1s  A sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=31s
			31s A expires of=c1/1
			31s c1 releases <--`},
		{name: "success, without a fault, before the end of the lease", want: Violated, blame: BlameLock, reasonParts: []string{"was removed by c2 on A at 20s"}, script: `
			lock L ttl=30s nodes=A quorum=1
			1s  A sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=31s
			20s A deletes by=c2/1 of=c1/1
			30s c1 releases <--`},
		{name: "two releases return success without an effect: the first is reported", want: Violated, reasonParts: []string{"c1 (section 1)'s release returned success at 40s"}, script: `
			lock L ttl=30s nodes=A quorum=1
			1s  A sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=31s
			31s A expires of=c1/1
			40s c1 releases <--
			41s A sets by=c1/2 ttl=30s
			41s c1 acquires rank=2 ends=71s
			71s A expires of=c1/2
			80s c1 releases`},
		{name: "the release never returns", want: NotApplicable, reasonParts: []string{"no client got an answer to the release of a grant"}, script: `
			lock L ttl=30s nodes=A quorum=1
			1s A sets by=c1/1 ttl=30s
			1s c1 acquires rank=1 ends=31s
			9s c1 asks-to-release`},
		{name: "success, for a grant that no server made", want: NotApplicable, script: `
			lock L ttl=30s nodes=A quorum=1
			1s c1 acquires rank=1 ungranted
			9s c1 releases`},
		{name: "success, for a lock that does not say where it keeps its keys", want: NotApplicable, script: `
			lock L ttl=30s unwatched
			0s c1 acquires rank=1
			9s c1 releases`},
		{name: "success, for a lock that is granted to every client", want: NotApplicable, script: `
			lock L ttl=30s open
			0s c1 acquires rank=1
			9s c1 releases`},
		{name: "a world without locks", want: NotApplicable, script: `
			no-lock
			0s c1 writes x=0>1`},
	})
}

// A violation of a property that is only reported counts if it is the lock's fault.
func TestReportOnlyPropertiesCountOnlyAgainstTheLock(t *testing.T) {
	for _, test := range []struct {
		f    Finding
		want bool
	}{
		{Finding{Property: ReleaseAnswer, Outcome: Violated}, false},
		{Finding{Property: ReleaseAnswer, Outcome: Violated, Blame: BlameLock}, true},
		{Finding{Property: ReleaseAnswer, Outcome: Unknown}, false},
		{Finding{Property: ReleaseOwnership, Outcome: Violated}, true},
	} {
		if got := test.f.Counts(); got != test.want {
			t.Errorf("Counts() of %+v is %v, want %v", test.f, got, test.want)
		}
	}
}

// Nobody is to blame if a release returns success although the lease had ended.
func TestNoBlameForReleaseAfterLease(t *testing.T) {
	for name, text := range map[string]string{
		"the client released after its lease had ended": `
			lock L ttl=30s nodes=A quorum=1
			1s  A sets by=c1/1 ttl=30s
			1s  c1 acquires rank=1 ends=31s
			31s A expires of=c1/1
			31s c1 releases`,
		"a node forgot the key": `
			lock L ttl=30s nodes=A quorum=1
			1s A sets by=c1/1 ttl=30s
			1s c1 acquires rank=1 ends=31s
			5s fault-1 strikes kills=A instant
			5s A crashes
			6s A restarts
			6s A forgets of=c1/1
			9s c1 releases`,
	} {
		v := Check(history.New(parseScript(t, text).trace), nil)
		if f := v.Finding(ReleaseAnswer); f.Outcome != Violated || !f.Blame.IsZero() || f.Counts() {
			t.Errorf("%s: got %+v, want a violation without blame that does not count", name, f)
		}
		for _, f := range v.Violations() {
			if f.Property == ReleaseAnswer {
				t.Errorf("%s: release-answer is among the violations that count", name)
			}
		}
	}
}
