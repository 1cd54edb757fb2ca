package checks

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// An oracle that sees the events of a script is asked for the rank at each end of a
// successful acquire, as a world does. want has "client/section=rank" for each of these
// ends, with a "!" for a grant that no server made. The scripts are traces written by hand; see
// [script]. The lock keeps a key on each of five nodes, A to E; each key is a slot, and three
// slots are a quorum.
func TestOracle(t *testing.T) {
	for _, test := range []struct {
		name, story string
		want        []string
	}{
		{"two clients, one after the other", `
			0s c1 calls
			1s A sets by=c1/1 value=v1
			1s B sets by=c1/1 value=v1
			1s C sets by=c1/1 value=v1
			1s D sets by=c1/1 value=v1
			1s E sets by=c1/1 value=v1
			2s c1 acquires
			3s A deletes by=c1/1 of=c1/1
			3s B deletes by=c1/1 of=c1/1
			3s C deletes by=c1/1 of=c1/1
			3s D deletes by=c1/1 of=c1/1
			3s E deletes by=c1/1 of=c1/1
			4s c2 calls
			5s A sets by=c2/1 value=v2
			5s B sets by=c2/1 value=v2
			5s C sets by=c2/1 value=v2
			6s c2 acquires`, []string{"c1/1=1", "c2/1=2"}},
		{"the client whose quorum came first returns last", `
			0s c1 calls
			1s A sets by=c1/1 value=v1
			1s B sets by=c1/1 value=v1
			1s C sets by=c1/1 value=v1
			2s A expires of=c1/1
			2s B expires of=c1/1
			2s C expires of=c1/1
			3s c2 calls
			3s A sets by=c2/1 value=v2
			3s B sets by=c2/1 value=v2
			3s C sets by=c2/1 value=v2
			4s c2 acquires
			5s c1 acquires`, []string{"c2/1=2", "c1/1=1"}},
		{"a slot set after the quorum leaves no gap in the ranks", `
			0s c1 calls
			1s A sets by=c1/1 value=v1
			1s B sets by=c1/1 value=v1
			1s C sets by=c1/1 value=v1
			1s D sets by=c1/1 value=v1
			2s A expires of=c1/1
			2s B expires of=c1/1
			2s C expires of=c1/1
			3s c2 calls
			3s A sets by=c2/1 value=v2
			3s B sets by=c2/1 value=v2
			3s C sets by=c2/1 value=v2
			4s c2 acquires`, []string{"c2/1=2"}},
		{"a failed attempt leaves a gap in the ranks", `
			0s c1 calls
			0s c2 calls
			1s A sets by=c1/1 value=v1
			1s B sets by=c1/1 value=v1
			1s C sets by=c2/1 value=v2
			1s D sets by=c2/1 value=v2
			1s E sets by=c2/1 value=v2
			2s c1 fails
			2s c2 acquires`, []string{"c2/1=2"}},
		{"interleaved attempts are ranked in the order of their last changes", `
			0s c1 calls
			0s c2 calls
			0s c3 calls
			1s A sets by=c1/1 value=v1
			2s B sets by=c2/1 value=v2
			3s A expires of=c1/1
			3s B expires of=c2/1
			4s B sets by=c1/1 value=v1
			5s C sets by=c3/1 value=v3
			5s D sets by=c3/1 value=v3
			5s E sets by=c3/1 value=v3
			6s c3 acquires
			7s c1 acquires
			8s c2 acquires`, []string{"c3/1=3", "c1/1=2", "c2/1=1"}},
		{"a client loses its quorum and makes it again: the second quorum counts", `
			0s c1 calls
			1s A sets by=c1/1 value=v1
			1s B sets by=c1/1 value=v1
			1s C sets by=c1/1 value=v1
			2s A deletes by=c1/1 of=c1/1
			3s A sets by=c1/1 value=v1
			4s c1 acquires`, []string{"c1/1=2"}},
		{"a client makes a quorum twice, and has lost it when acquire returns: the second quorum counts", `
			0s c1 calls
			1s A sets by=c1/1 value=v1
			1s B sets by=c1/1 value=v1
			1s C sets by=c1/1 value=v1
			2s A deletes by=c1/1 of=c1/1
			3s c2 calls
			3s A sets by=c2/1 value=v2
			3s D sets by=c2/1 value=v2
			3s E sets by=c2/1 value=v2
			4s D expires of=c2/1
			5s D sets by=c1/1 value=v1
			5s D expires of=c1/1
			6s B touches by=c1/1 of=c1/1
			7s c1 acquires
			8s c2 acquires`, []string{"c1/1=3", "c2/1=2"}},
		{"an acquire with a minority of the slots: its last change counts", `
			0s c1 calls
			1s A sets by=c1/1 value=v1
			1s B sets by=c1/1 value=v1
			2s c1 acquires`, []string{"c1/1=1"}},
		{"an acquire with a minority of the slots, the last set after another client's quorum", `
			0s c1 calls
			0s c2 calls
			1s A sets by=c1/1 value=v1
			1s C sets by=c2/1 value=v2
			1s D sets by=c2/1 value=v2
			1s E sets by=c2/1 value=v2
			2s B sets by=c1/1 value=v1
			3s c1 acquires
			4s c2 acquires`, []string{"c1/1=3", "c2/1=2"}},
		{"an acquire with a minority of the slots, the last set before another client's quorum", `
			0s c1 calls
			0s c2 calls
			1s A sets by=c1/1 value=v1
			1s C sets by=c2/1 value=v2
			1s D sets by=c2/1 value=v2
			1s E sets by=c2/1 value=v2
			3s c1 acquires
			4s c2 acquires`, []string{"c1/1=1", "c2/1=2"}},
		{"an acquire that changed no slot", `
			0s c1 calls
			1s c1 acquires`, []string{"c1/1=1!"}},
		{"an acquire that changed no slot ranks after one that did", `
			0s c1 calls
			0s c2 calls
			1s A sets by=c1/1 value=v1
			2s c2 acquires
			3s c1 acquires`, []string{"c2/1=2!", "c1/1=1"}},
		{"two clients with the same value are distinguished", `
			0s c1 calls
			0s c2 calls
			1s A sets by=c1/1 value=locked
			1s B sets by=c1/1 value=locked
			1s C sets by=c2/1 value=locked
			1s D sets by=c2/1 value=locked
			2s E sets by=c2/1 value=locked
			3s c1 acquires
			4s c2 acquires`, []string{"c1/1=1", "c2/1=2"}},
		{"two sections of one client with the same value are distinguished", `
			0s c1 calls
			1s A sets by=c1/1 value=locked
			1s B sets by=c1/1 value=locked
			1s C sets by=c1/1 value=locked
			2s c1 acquires
			3s c1 calls
			3s c1 acquires`, []string{"c1/1=1", "c1/2=2!"}},
		{"an acquire that extends the key of an earlier section changes a slot", `
			0s c1 calls
			1s A sets by=c1/1 value=locked
			1s B sets by=c1/1 value=locked
			1s C sets by=c1/1 value=locked
			2s c1 acquires
			3s c1 calls
			3s A touches by=c1/2 of=c1/1 value=locked
			3s c1 acquires`, []string{"c1/1=1", "c1/2=2"}},
		{"an extension leaves no gap in the ranks", `
			0s c1 calls
			1s A sets by=c1/1 value=v1
			2s c1 acquires
			3s A touches by=c1/1 of=c1/1 value=v1
			4s c2 calls
			4s B sets by=c2/1 value=v2
			4s C sets by=c2/1 value=v2
			4s D sets by=c2/1 value=v2
			5s c2 acquires`, []string{"c1/1=1", "c2/1=2"}},
		{"the slot of a crashed node counts until the node restarts", `
			0s c1 calls
			1s A sets by=c1/1 value=v1
			1s B sets by=c1/1 value=v1
			2s C sets by=c1/1 value=v1
			3s C crashes
			3s C forgets of=c1/1
			4s D sets by=c1/1 value=v1
			5s D deletes by=c1/1 of=c1/1
			9s c1 acquires`, []string{"c1/1=1"}},
		{"the slot of a crashed node that forgot its key counts no longer after the restart", `
			0s c1 calls
			1s A sets by=c1/1 value=v1
			1s B sets by=c1/1 value=v1
			2s C sets by=c1/1 value=v1
			3s C crashes
			3s C forgets of=c1/1
			3s C restarts
			4s D sets by=c1/1 value=v1
			9s c1 acquires`, []string{"c1/1=2"}},
		{"the slot of a crashed node that forgets its key after the restart", `
			0s c1 calls
			1s A sets by=c1/1 value=v1
			1s B sets by=c1/1 value=v1
			2s C sets by=c1/1 value=v1
			3s C crashes
			3s C restarts
			3s C forgets of=c1/1
			4s D sets by=c1/1 value=v1
			9s c1 acquires`, []string{"c1/1=2"}},
		{"a key restored from disk completes a quorum", `
			0s c1 calls
			1s A sets by=c1/1 value=v1
			1s B sets by=c1/1 value=v1
			2s C restores of=c1/1 value=v1
			3s c2 calls
			3s D sets by=c2/1 value=v2
			4s c2 acquires
			9s c1 acquires`, []string{"c2/1=2", "c1/1=1"}},
		{"a key restored with another end counts as never lost", `
			lock L ttl=30s nodes=A quorum=1
			0s c1 calls
			1s A sets by=c1/1 value=v1
			2s c1 acquires
			3s A touches by=c1/1 of=c1/1 value=v1
			4s A crashes
			5s A restarts
			5s A restores of=c1/1 value=v1
			6s A deletes by=c1/1 of=c1/1
			7s c2 calls
			7s A sets by=c2/1 value=v2
			8s c2 acquires`, []string{"c1/1=1", "c2/1=2"}},
		{"a promoted replica takes its master's slot", `
			0s c1 calls
			1s A sets by=c1/1 value=v1
			1s B sets by=c1/1 value=v1
			2s C sets by=c1/1 value=v1
			3s R replaces C
			4s R sets by=c1/1 value=v1
			9s c1 acquires`, []string{"c1/1=2"}},
		{"a promoted replica takes its master's slot with the key that it had received", `
			0s c1 calls
			1s A sets by=c1/1 value=v1
			1s B sets by=c1/1 value=v1
			2s C sets by=c1/1 value=v1
			2s R restores of=c1/1 value=v1
			3s R replaces C
			4s C forgets of=c1/1
			5s D sets by=c1/1 value=v1
			9s c1 acquires`, []string{"c1/1=1"}},
		{"a node that replaces another node of the lock counts for both slots", `
			0s c1 calls
			1s A sets by=c1/1 value=v1
			2s B replaces C
			3s B sets by=c1/1 value=v1
			3s c2 calls
			4s D sets by=c2/1 value=v2
			5s E sets by=c1/1 value=v1
			6s c2 acquires
			9s c1 acquires`, []string{"c2/1=2", "c1/1=1"}},
		{"a lock with five keys on one node", `
			lock L ttl=30s nodes=A keys=L0,L1,L2,L3,L4
			0s c1 calls
			0s c2 calls
			1s A sets by=c1/1 value=v1 key=L0
			1s A sets by=c2/1 value=v2 key=L1
			1s A sets by=c1/1 value=v1 key=L2
			1s A sets by=c2/1 value=v2 key=L3
			1s A sets by=c1/1 value=v1 key=other
			2s A sets by=c1/1 value=v1 key=L4
			3s c1 acquires
			4s c2 acquires`, []string{"c1/1=2", "c2/1=1"}},
		{"a lock with one slot", `
			lock L ttl=30s nodes=A quorum=1
			0s c1 calls
			0s c2 calls
			1s A sets by=c1/1 value=v1
			2s c1 acquires
			3s A expires of=c1/1
			4s A sets by=c2/1 value=v2
			5s c2 acquires`, []string{"c1/1=1", "c2/1=2"}},
		{"a lock without slots", `
			lock L ttl=30s unwatched quorum=0
			0s c1 acquires
			1s c2 acquires`, []string{"c1/1=1!", "c2/1=2!"}},
		{"each lock has its own ranks", `
			lock M ttl=30s
			0s c1 calls
			1s A sets by=c1/1 value=v1
			1s B sets by=c1/1 value=v1
			1s C sets by=c1/1 value=v1
			2s c1 acquires
			3s c2 calls lock=M
			3s A sets by=c2/1 value=v2 key=M
			3s B sets by=c2/1 value=v2 key=M
			3s C sets by=c2/1 value=v2 key=M
			4s c2 acquires lock=M`, []string{"c1/1=1", "c2/1=1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := parseScript(t, test.story).trace
			oracle := history.NewOracle(&trace.Trace{Locks: tr.Locks})
			var got []string
			for i := range tr.Events {
				ev := &tr.Events[i]
				if ev.Kind == trace.KindEnd && ev.Step == trace.Acquire && ev.OK {
					rank, ungranted := oracle.Rank(ev.Lock, history.Acquisition{Client: ev.Process, Section: ev.Section})
					grant := fmt.Sprintf("%s/%d=%d", ev.Process, ev.Section, rank)
					if ungranted {
						grant += "!"
					}
					got = append(got, grant)
				}
				oracle.See(ev)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("the ranks are %v, want %v", got, test.want)
			}
		})
	}
}
