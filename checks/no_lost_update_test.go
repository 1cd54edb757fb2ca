package checks

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/locksim/locksim/history"
)

// The scripts are traces written by hand; see [script]. "x=0>1" replaces version 0 of object x
// by version 1; "<--" marks the line with which the property breaks.
func TestNoLostUpdate(t *testing.T) {
	judgeAll(t, NoLostUpdate, []judgement{
		{name: "a write replaced another version than the one that its client had read", want: Violated,
			reasonParts: []string{"c1's write at 50s was computed from version 0 of x, but replaced version 1 of x", "the update that c2 made at 42s is lost"}, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			40s c2 acquires rank=2
			41s c2 reads x=0
			42s c2 writes x=0>1
			50s c1 writes x=1>2 <--`},
		{name: "a write replaced the version that its client had read", want: Holds, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 reads x=0
			42s c2 writes x=0>1
			49s c1 reads x=1
			50s c1 writes x=1>2`},
		{name: "a client reads after it has sent the write: only the read before it counts", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 sends message=1
			40s c2 acquires rank=2
			42s c2 writes x=0>1
			45s c1 reads x=1
			50s c1 lands message=1 x=1>2 <--`},
		{name: "of two writes in flight, the one sent before the read lands", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 sends message=1
			3s  c2 writes x=0>1
			4s  c1 reads x=1
			5s  c1 sends message=2
			6s  c1 lands message=1 x=1>2 <--`},
		{name: "of two writes in flight, the one sent after the read lands", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 sends message=1
			3s  c2 writes x=0>1
			4s  c1 reads x=1
			5s  c1 sends message=2
			6s  c1 lands message=2 x=1>2`},
		{name: "a read shows the version at the time when the storage served it", want: Violated, reasonParts: []string{"c3 made"}, script: `
			0s  c1 acquires rank=1
			1s  c2 sends message=1
			1s  c2 lands message=1 x=0>1
			2s  c1 is-shown x=1
			3s  c3 writes x=0>1
			4s  c4 reads x=1
			5s  c1 learns x=1
			6s  c1 writes x=1>2 <--`},
		{name: "a read through a service shows the version at the time when the storage served it", want: Violated, reasonParts: []string{"c3 made"}, script: `
			0s  c1 acquires rank=1
			1s  c2 sends message=1
			1s  c2 lands message=1 x=0>1
			2s  c1 is-shown x=1 via=s1
			3s  c3 writes x=0>1
			4s  c4 reads x=1
			5s  c1 learns x=1
			6s  c1 writes x=1>2 <--`},
		{name: "a read whose answer never arrives does not count", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 is-shown x=0
			40s c2 writes x=0>1
			50s c1 writes x=1>2`},
		{name: "a write to an object that its client had not read", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 reads y=0
			40s c2 acquires rank=2
			42s c2 writes x=0>1
			50s c1 writes x=1>2`},
		{name: "two writes without a read", want: Holds, script: `
			0s  c1 acquires rank=1
			2s  c1 writes x=0>1
			3s  c2 writes x=1>2
			4s  c1 writes x=2>3`},
		{name: "a read of another object does not count", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 writes y=0>1
			3s  c2 writes y=1>2
			4s  c1 writes y=2>3`},
		{name: "a read of y counts for writes to y", want: Violated, reasonParts: []string{"computed from version 1 of y"}, script: `
			0s  c1 acquires rank=1
			1s  c1 reads y=0
			2s  c1 writes y=0>1
			3s  c2 writes y=1>2
			4s  c1 writes y=2>3 <--`},
		{name: "a client reads for the first time after it has sent the write", want: Holds, script: `
			0s  c1 acquires rank=1
			2s  c1 writes x=0>1
			3s  c2 writes x=1>2
			4s  c1 sends message=1
			5s  c1 reads x=2
			6s  c1 lands message=1 x=2>3`},
		{name: "a client without a grant reads, and overwrites another's write", want: Violated, script: `
			0s  c1 fails
			1s  c1 reads x=0
			3s  c2 writes x=0>1
			4s  c1 writes x=1>2 <--`},
		{name: "a client without a grant or a read overwrites another's write", want: Holds, script: `
			0s  c1 fails
			1s  c1 writes x=0>1
			3s  c2 writes x=1>2
			4s  c1 writes x=2>3`},
		{name: "a client overwrites its own acknowledged write", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 writes x=0>1
			3s  c1 writes x=1>2`},
		{name: "another client's write lands between two writes of a client", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 writes x=0>1
			3s  c2 writes x=1>2
			4s  c1 writes x=2>3 <--`},
		{name: "a client overwrites its own unacknowledged write", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 sends message=1
			3s  c1 lands message=1 x=0>1
			4s  c1 sends message=2
			5s  c1 lands message=2 x=1>2`},
		{name: "a delayed write of a client arrives after its later write", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 sends message=1
			3s  c1 sends message=2
			4s  c1 lands message=2 x=0>1
			5s  c1 hears x=1
			6s  c1 sends message=3
			7s  c1 lands message=3 x=1>2
			8s  c1 lands message=1 x=2>3 <--`},
		{name: "the first copy of a write that was resent arrives after the next write", want: Violated,
			reasonParts: []string{"c1's write at 8s was computed from version 0 of x, but replaced version 2 of x", "the update that c1 made at 7s is lost"}, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 sends message=1
			4s  c1 resends message=2
			4s  c1 lands message=2 x=0>1
			5s  c1 hears x=1
			6s  c1 sends message=3
			7s  c1 lands message=3 x=1>2
			8s  c1 lands message=1 x=2>3 <--`},
		{name: "both copies of a write arrive before the next write", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 sends message=1
			4s  c1 resends message=2
			5s  c1 lands message=1 x=0>1
			5s  c1 lands message=2 x=1>2
			5s  c1 hears x=2
			6s  c1 sends message=3
			7s  c1 lands message=3 x=2>3`},
		{name: "a service passes on a write that was sent before the last read", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0 via=s1
			2s  c1 sends message=1 via=s1
			3s  c2 writes x=0>1 via=s1
			4s  c1 reads x=1 via=s1
			5s  c1 lands message=1 x=1>2 via=s1 <--`},
		{name: "a service passes on a write that was sent after the last read", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0 via=s1
			3s  c2 writes x=0>1 via=s1
			4s  c1 reads x=1 via=s1
			5s  c1 sends message=1 via=s1
			5s  c1 lands message=1 x=1>2 via=s1`},
		{name: "a mark is neither a read nor a write", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 marks x=0
			2s  c2 writes x=0>1
			3s  c1 writes x=1>2`},
		{name: "the client's previous section read, this one did not", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 releases
			3s  c2 writes x=0>1
			4s  c1 acquires rank=2
			5s  c1 writes x=1>2`},

		{name: "an acknowledged write is overwritten as an older version", want: Violated,
			reasonParts: []string{"c1 received at 2s the answer that it had written version 2 of x, but at 4s x was written over as version 1"}, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1
			2s  c1 writes x=1>2
			3s  c2 acquires rank=2
			4s  c2 writes x=1>2 <--`},
		{name: "a write that was not acknowledged may be lost", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1
			2s  c1 sends message=1
			2s  c1 lands message=1 x=1>2
			3s  c2 acquires rank=2
			4s  c2 writes x=1>2`},
		{name: "a write is acknowledged after it was overwritten as an older version", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1
			2s  c1 sends message=1
			2s  c1 lands message=1 x=1>2
			4s  c2 writes x=1>2
			5s  c1 hears x=2 <--`},
		{name: "a member that lags behind serves an older version", want: Holds, script: `
			lock L ttl=30s members=ABC
			0s c1 acquires rank=1
			1s c1 reads x=0
			2s c1 writes x=0>1
			3s c1 releases
			4s c2 acquires rank=2
			5s c2 reads x=0 from=B`},
		{name: "a member that lags behind serves an older version, and a write is computed from it", want: Violated, reasonParts: []string{"version 0 of x, but replaced version 1 of x"}, script: `
			lock L ttl=30s members=ABC
			0s c1 acquires rank=1
			1s c1 reads x=0
			2s c1 writes x=0>1
			3s c1 releases
			4s c2 acquires rank=2
			5s c2 reads x=0 from=B
			6s c2 writes x=1>2 <--`},
		{name: "a read shows an older version", want: Violated, reasonParts: []string{"x was read as version 1"}, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1
			2s  c1 writes x=1>2
			4s  c2 reads x=1 <--`},
		{name: "the answer to a read is in flight while the version is replaced", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1
			2s  c2 is-shown x=1
			3s  c1 writes x=1>2
			4s  c2 learns x=1`},
		{name: "the storage holds an older version at the end of the run", want: Violated, reasonParts: []string{"x ended as version 0"}, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1
			9s  storage holds x=0 <--`},
		{name: "the storage comes back without an acknowledged write", want: Violated,
			reasonParts: []string{"c1 received at 2s the answer that it had written version 2 of x, but at 5s x was put back to version 1"}, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1
			2s  c1 writes x=1>2
			5s  storage reverts x=2>1 <--
			9s  storage holds x=1`},
		{name: "the storage comes back without an unacknowledged write over an acknowledged one", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1 value=a
			2s  c1 sends message=1
			2s  c1 lands message=1 x=1>2 value=b
			5s  storage reverts x=2>1 value=a
			9s  storage holds x=1 value=a`},
		{name: "the storage comes back without an unacknowledged write, and the client resends it", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 sends message=1
			2s  c1 lands message=1 x=0>1 value=a
			5s  storage reverts x=1>0
			6s  c1 resends message=2
			6s  c1 lands message=2 x=0>1 value=a
			7s  c1 hears x=1
			9s  storage holds x=1 value=a`},
		{name: "the storage holds the write at the end of the run", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1 value=a
			9s  storage holds x=1 value=a`},
		{name: "the storage holds another client's write with the same version number at the end of the run", want: Violated, reasonParts: []string{"version 1 of another client"}, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1 value=a
			9s  storage holds x=1 value=b <--`},
		{name: "the storage holds an older version of another object at the end of the run", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1
			9s  storage holds y=0`},
	})
}

// The fast search for the first observation that shows a loss finds the same observation as
// a search through all of them.
func TestFirstObservationOfALoss(t *testing.T) {
	found := 0
	for seed := range uint64(2000) {
		text := randomScript(rand.New(rand.NewPCG(seed, 2)))
		text += fmt.Sprintf("\n90s storage reverts x=9>%d\n91s storage holds x=%d", seed%4, seed%3)
		h := history.New(parseScript(t, text).trace)
		all := observationsByObject(h.Observations())
		for _, v := range h.Versions() {
			var want *history.Observation
			for i, s := range h.Observations() {
				if s.Object == v.Object && s.Event.Seq > v.Made.Seq && (s.Number < v.Number || s.Number == v.Number && s.IsOtherWrite(v)) {
					want = &h.Observations()[i]
					break
				}
			}
			got := all[v.Object].firstMissing(v)
			if (got == nil) != (want == nil) || got != nil && got.Event != want.Event {
				t.Fatalf("%s\nthe first observation that %v is lost is %v, want %v", text, v, got, want)
			}
			if got != nil {
				found++
			}
		}
	}
	if found == 0 {
		t.Error("no script lost a version, want at least one")
	}
}
