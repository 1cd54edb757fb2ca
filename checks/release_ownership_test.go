package checks

import "testing"

// The scripts are traces written by hand; see [script]. "by" changes a key that "of" had
// set; "over" is the owner of an overwritten key. "c1/2@7" is the second section of c1, with the
// command that is event 7.
func TestReleaseOwnership(t *testing.T) {
	judgeAll(t, ReleaseOwnership, []judgement{
		{name: "another client's key removed", want: Violated, blame: BlameLock,
			reasonParts: []string{`at 40s, c1 removed the key "L" on A, which belonged to c2`}, script: `
			35s A sets by=c2/1
			40s A deletes by=c1/1 of=c2/1 <--`},
		{name: "its own key removed", want: Holds, script: `
			35s A sets by=c1/1
			40s A deletes by=c1/1 of=c1/1`},
		{name: "another client's key renewed", want: Violated, reasonParts: []string{"changed the expiry of"}, script: `
			35s A sets by=c2/1
			40s A touches by=c1/1 of=c2/1 <--`},
		{name: "its own key renewed", want: Holds, script: `
			35s A sets by=c1/1
			40s A touches by=c1/1 of=c1/1`},
		{name: "another client's key overwritten", want: Violated, reasonParts: []string{"overwrote"}, script: `
			35s A sets by=c2/1
			40s A sets by=c1/1 over=c2/1 <--`},
		{name: "another client's key without a TTL overwritten after its lease has ended", want: Holds, script: `
			35s A sets by=c2/1
			65s A sets by=c1/1 over=c2/1`},
		{name: "another client's key without a TTL overwritten before its lease has ended", want: Violated, script: `
			35s A sets by=c2/1
			64s A sets by=c1/1 over=c2/1 <--`},
		{name: "another client's key without a TTL overwritten after its lease would have ended without its renewal", want: Violated, script: `
			35s A sets by=c2/1
			50s A touches by=c2/1 of=c2/1
			65s A sets by=c1/1 over=c2/1 <--`},
		{name: "another client's key overwritten when its lease has ended by the overwriting client's clock, not by the server's", want: Holds, script: `
			35s A sets by=c2/1 ttl=30s
			35s A shows wall=35s monotonic=35s ppb=-500000000 why=drift
			66s c1 calls
			66s A sets by=c1/1 over=c2/1`},
		{name: "another client's key overwritten before its TTL has passed by any clock", want: Violated, script: `
			35s A sets by=c2/1 ttl=60s
			66s A sets by=c1/1 over=c2/1 <--`},
		{name: "another client's key overwritten before its TTL has passed, by a client whose clock is ahead by a constant", want: Violated, script: `
			1s c1 shows wall=100s monotonic=1s why=start
			35s A sets by=c2/1 ttl=30s
			40s A sets by=c1/1 over=c2/1 <--`},
		{name: "another client's key had expired", want: Holds, script: `
			35s A sets by=c2/1
			39s A expires of=c2/1
			40s A sets by=c1/1`},
		{name: "an earlier section removes the key that a later one set", want: Violated, script: `
			35s A sets by=c1/2
			40s A deletes by=c1/1 of=c1/2 <--`},
		{name: "a later section removes the key that an earlier one set", want: Holds, script: `
			35s A sets by=c1/1
			40s A deletes by=c1/2 of=c1/1`},
		{name: "a later section removes the key of an earlier section that has not ended", want: Violated, blame: BlameLock,
			reasonParts: []string{"c1 (section 2) removed", "belonged to c1 (section 1)"}, script: `
			1s  A sets by=c1/1
			2s  c1 acquires rank=1
			3s  c1 calls
			4s  A deletes by=c1/2 of=c1/1 <--`},
		{name: "a later section overwrites the key of an earlier section that has not ended", want: Violated, script: `
			1s  A sets by=c1/1
			2s  c1 acquires rank=1
			3s  c1 calls
			4s  A sets by=c1/2 over=c1/1 <--`},
		{name: "a later section removes the key of an earlier section that was released", want: Holds, script: `
			1s  A sets by=c1/1
			2s  c1 acquires rank=1
			3s  c1 releases
			3s  c1 calls
			4s  A deletes by=c1/2 of=c1/1`},
		{name: "a later section removes the key of an earlier acquire that failed", want: Holds, script: `
			1s  A sets by=c1/1
			2s  c1 fails
			3s  c1 calls
			4s  A deletes by=c1/2 of=c1/1`},
		{name: "an earlier section's handle renews its key while the client acquires again", want: Holds, script: `
			1s  A sets by=c1/1
			2s  c1 acquires rank=1
			3s  c1 calls
			4s  A touches by=c1/2 of=c1/1`},
		{name: "an earlier section extends the key that a later one set", want: Violated, blame: BlameLock, script: `
			0s  c1 commands A text=SET
			1s  c1 commands A text=PEXPIRE
			35s A sets by=c1/2@1
			40s A touches by=c1/1@2 of=c1/2@1 <--`},
		{name: "an earlier section removes the key that a later one set, by a command with its own value", want: Violated, script: `
			0s  c1 commands A text=SET
			1s  c1 commands A text=value-1
			35s A sets by=c1/2@1 value=value-2
			40s A deletes by=c1/1@2 of=c1/2@1 value=value-2 <--`},
		{name: "a later section's handle renews its key while the client is busy with an earlier one", want: Holds, script: `
			0s  c1 commands A text=SET
			1s  c1 commands A text=value-2
			34s B sets by=c1/1@1 value=value-1
			35s A sets by=c1/2@1 value=value-2
			40s A touches by=c1/1@2 of=c1/2@1 value=value-2`},
		{name: "a later section's handle removes its key while the client is busy with an earlier one", want: Holds, script: `
			0s  c1 commands A text=SET
			1s  c1 commands A text=value-2
			34s B sets by=c1/1@1 value=value-1
			35s A sets by=c1/2@1 value=value-2
			40s A deletes by=c1/1@2 of=c1/2@1 value=value-2`},
		{name: "a section removes the key of a later one with the same value, by a command with that value", want: Violated, script: `
			0s  c1 commands A text=SET
			1s  c1 commands A text=value-1
			34s B sets by=c1/1@1 value=value-1
			35s A sets by=c1/2@1 value=value-1
			40s A deletes by=c1/1@2 of=c1/2@1 value=value-1 <--`},
		{name: "an earlier section extends the key that a later one set, by a command sent before the key was set", want: Violated, script: `
			0s  c1 commands A text=value-1
			1s  c1 commands A text=SET
			35s A sets by=c1/2@2
			40s A touches by=c1/1@1 of=c1/2@2 <--`},
		{name: "a section removes its own key by a command sent before the key was set", want: Violated, reasonParts: []string{"that command had been sent before the command that set the key"}, script: `
			35s A sets by=c1/1@8
			40s A deletes by=c1/1@7 of=c1/1@8 <--`},
		{name: "a section removes its own key by a command sent after the key was set", want: Holds, script: `
			35s A sets by=c1/1@8
			40s A deletes by=c1/1@9 of=c1/1@8`},
		{name: "a client removes its own key from outside any section", want: Holds, script: `
			35s A sets by=c1/1@8
			40s A deletes by=c1/0@9 of=c1/1@8`},
		{name: "a client removes its own key from outside any section, by a command sent before the key was set", want: Violated, script: `
			35s A sets by=c1/1@8
			40s A deletes by=c1/0@7 of=c1/1@8 <--`},
		{name: "a key that is not the lock's", want: Holds, script: `
			35s A sets by=c2/1 key=counter
			40s A sets by=c1/1 over=c2/1 key=counter`},
		{name: "another client's key removed by a client that kept running while it was paused", want: Violated, reasonParts: []string{"c1 kept running while it was paused"}, script: `
			35s A sets by=c2/1
			39s c1 runs-on
			40s A deletes by=c1/1 of=c2/1 <--`},
		{name: "a lock that does not say where it keeps its keys", want: NotApplicable, script: `
			lock L ttl=30s unwatched
			0s c1 acquires rank=1`},
		{name: "the lock is granted to every client that asks", want: NotApplicable, reasonParts: []string{"every client enters its section"}, script: `
			lock L ttl=30s open
			0s c1 acquires rank=1`},
		{name: "a client removes its own key of one lock and another client's key of another", want: Violated, script: `
			lock M ttl=30s
			1s A sets by=c1/1 key=L
			1s A sets by=c2/1 key=M
			2s A deletes by=c1/1 of=c1/1 key=L
			3s A deletes by=c1/2 of=c2/1 key=M <--`},
		{name: "a world without locks", want: NotApplicable, script: `
			no-lock
			0s c1 writes x=0>1`},
	})
}
