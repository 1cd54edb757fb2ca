package checks

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/locksim/locksim/history"
)

// The scripts are traces written by hand; see [script].
func TestNoLostUpdate(t *testing.T) {
	judgeAll(t, NoLostUpdate, []judgement{
		{name: "replaced another version than the one it had read", want: Violated,
			reasonParts: []string{"c1's write at 50s was computed from x as it was at first, but replaced version 1 of x", "the update that c2 made at 42s is lost"}, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			40s c2 acquires rank=2
			41s c2 reads x=0
			42s c2 writes x=0>1
			50s c1 writes x=1>2 <--`},
		{name: "replaced what it had read", want: Holds, script: `
			0s  c1 acquires rank=1
			40s c2 acquires rank=2
			41s c2 reads x=0
			42s c2 writes x=0>1
			49s c1 reads x=1
			50s c1 writes x=1>2`},
		{name: "what counts is the last read before it was sent", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 sends message=1
			40s c2 acquires rank=2
			42s c2 writes x=0>1
			45s c1 reads x=1
			50s c1 lands message=1 x=1>2 <--`},
		{name: "of two writes under way, the one sent before the read lands", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 sends message=1
			3s  c2 writes x=0>1
			4s  c1 reads x=1
			5s  c1 sends message=2
			6s  c1 lands message=1 x=1>2 <--`},
		{name: "of two writes under way, the one sent after the read lands", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 sends message=1
			3s  c2 writes x=0>1
			4s  c1 reads x=1
			5s  c1 sends message=2
			6s  c1 lands message=2 x=1>2`},
		{name: "what was read is what the storage had when it served the read", want: Violated, reasonParts: []string{"c3 made"}, script: `
			0s  c1 acquires rank=1
			1s  c2 sends message=1
			1s  c2 lands message=1 x=0>1
			2s  c1 is-shown x=1
			3s  c3 writes x=0>1
			4s  c4 reads x=1
			5s  c1 learns x=1
			6s  c1 writes x=1>2 <--`},
		{name: "the same through a service", want: Violated, reasonParts: []string{"c3 made"}, script: `
			0s  c1 acquires rank=1
			1s  c2 sends message=1
			1s  c2 lands message=1 x=0>1
			2s  c1 is-shown x=1 via=s1
			3s  c3 writes x=0>1
			4s  c4 reads x=1
			5s  c1 learns x=1
			6s  c1 writes x=1>2 <--`},
		{name: "a read whose answer never came is not a read", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 is-shown x=0
			40s c2 writes x=0>1
			50s c1 writes x=1>2`},
		{name: "an object that it had not read", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 reads y=0
			40s c2 acquires rank=2
			42s c2 writes x=0>1
			50s c1 writes x=1>2`},
		{name: "of two writes of which neither was computed from a read", want: Holds, script: `
			0s  c1 acquires rank=1
			2s  c1 writes x=0>1
			3s  c2 writes x=1>2
			4s  c1 writes x=2>3`},
		{name: "what was read of another object does not matter", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 writes y=0>1
			3s  c2 writes y=1>2
			4s  c1 writes y=2>3`},
		{name: "each object for itself", want: Violated, reasonParts: []string{"computed from version 1 of y"}, script: `
			0s  c1 acquires rank=1
			1s  c1 reads y=0
			2s  c1 writes y=0>1
			3s  c2 writes y=1>2
			4s  c1 writes y=2>3 <--`},
		{name: "it asked to read only after it had sent the write", want: Holds, script: `
			0s  c1 acquires rank=1
			2s  c1 writes x=0>1
			3s  c2 writes x=1>2
			4s  c1 sends message=1
			5s  c1 reads x=2
			6s  c1 lands message=1 x=2>3`},
		{name: "without a grant", want: Violated, script: `
			0s  c1 fails
			1s  c1 reads x=0
			3s  c2 writes x=0>1
			4s  c1 writes x=1>2 <--`},
		{name: "without a grant, and without a read", want: Holds, script: `
			0s  c1 fails
			1s  c1 writes x=0>1
			3s  c2 writes x=1>2
			4s  c1 writes x=2>3`},
		{name: "on its own acknowledged write", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 writes x=0>1
			3s  c1 writes x=1>2`},
		{name: "on its own write, after another's", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 writes x=0>1
			3s  c2 writes x=1>2
			4s  c1 writes x=2>3 <--`},
		{name: "on its own write of which it never heard", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 sends message=1
			3s  c1 lands message=1 x=0>1
			4s  c1 sends message=2
			5s  c1 lands message=2 x=1>2`},
		{name: "a duplicate arrives after a later write of its own", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 sends message=1
			3s  c1 sends message=2
			4s  c1 lands message=2 x=0>1
			5s  c1 hears x=1
			6s  c1 sends message=3
			7s  c1 lands message=3 x=1>2
			8s  c1 lands message=1 x=2>3 <--`},
		{name: "a copy that was sent again arrives after the next write", want: Violated,
			reasonParts: []string{"c1's write at 8s was computed from x as it was at first, but replaced version 2 of x", "the update that c1 made at 7s is lost"}, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 sends message=1
			4s  c1 resends message=2
			4s  c1 lands message=2 x=0>1
			5s  c1 hears x=1
			6s  c1 sends message=3
			7s  c1 lands message=3 x=1>2
			8s  c1 lands message=1 x=2>3 <--`},
		{name: "both copies arrive before the next write", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 sends message=1
			4s  c1 resends message=2
			5s  c1 lands message=1 x=0>1
			5s  c1 lands message=2 x=1>2
			5s  c1 hears x=2
			6s  c1 sends message=3
			7s  c1 lands message=3 x=2>3`},
		{name: "a service passes a write on that was computed from another version", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0 via=s1
			2s  c1 sends message=1 via=s1
			3s  c2 writes x=0>1 via=s1
			4s  c1 reads x=1 via=s1
			5s  c1 lands message=1 x=1>2 via=s1 <--`},
		{name: "a service passes a write on that was sent after the read", want: Holds, script: `
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
		{name: "the section before read, this one did not", want: Holds, script: `
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
		{name: "it is acknowledged when it is already gone", want: Violated, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1
			2s  c1 sends message=1
			2s  c1 lands message=1 x=1>2
			4s  c2 writes x=1>2
			5s  c1 hears x=2 <--`},
		{name: "a read shows an older version, of a member of a cluster that is behind", want: Holds, script: `
			lock L ttl=30s members=ABC
			0s c1 acquires rank=1
			1s c1 reads x=0
			2s c1 writes x=0>1
			3s c1 releases
			4s c2 acquires rank=2
			5s c2 reads x=0 from=B`},
		{name: "and what is written follows from that", want: Violated, reasonParts: []string{"as it was at first, but replaced version 1 of x"}, script: `
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
		{name: "an answer that was under way is not a sight", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1
			2s  c2 is-shown x=1
			3s  c1 writes x=1>2
			4s  c2 learns x=1`},
		{name: "the end shows an older version", want: Violated, reasonParts: []string{"x ended as version 0"}, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1
			9s  storage holds x=0 <--`},
		{name: "the storage comes back without it", want: Violated,
			reasonParts: []string{"c1 received at 2s the answer that it had written version 2 of x, but at 5s x was put back to version 1"}, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1
			2s  c1 writes x=1>2
			5s  storage reverts x=2>1 <--
			9s  storage holds x=1`},
		{name: "the storage comes back without a later one that was not acknowledged", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1 value=a
			2s  c1 sends message=1
			2s  c1 lands message=1 x=1>2 value=b
			5s  storage reverts x=2>1 value=a
			9s  storage holds x=1 value=a`},
		{name: "it is written again after the storage came back", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 reads x=0
			2s  c1 sends message=1
			2s  c1 lands message=1 x=0>1 value=a
			5s  storage reverts x=1>0
			6s  c1 resends message=2
			6s  c1 lands message=2 x=0>1 value=a
			7s  c1 hears x=1
			9s  storage holds x=1 value=a`},
		{name: "the end shows the write", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1 value=a
			9s  storage holds x=1 value=a`},
		{name: "the end shows another's write under its number", want: Violated, reasonParts: []string{"version 1 of another client"}, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1 value=a
			9s  storage holds x=1 value=b <--`},
		{name: "another object is older", want: Holds, script: `
			0s  c1 acquires rank=1
			1s  c1 writes x=0>1
			9s  storage holds y=0`},
	})
}

// The fast search for the first observation that shows a loss finds the same observation as
// a search through all of them.
func TestGoneIsTheFirstSight(t *testing.T) {
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
				t.Fatalf("%s\n%v is gone with %v, want %v", text, v, got, want)
			}
			if got != nil {
				found++
			}
		}
	}
	if found == 0 {
		t.Error("nothing was ever gone")
	}
}
