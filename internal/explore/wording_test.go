package explore

import (
	"testing"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// The phrases by which the kinds of faults are described are correct English.
func TestFaultClauses(t *testing.T) {
	for _, test := range []struct {
		fault runs.Fault
		words string
	}{
		{item{Kind: "pause", Target: "client-1", For: 31 * second}.fault(), "client-1 pauses for 31s"},
		{item{Kind: "pause", Target: "storage", How: "suspend", For: 60 * second}.fault(), "the storage is suspended with its machine for 1m"},
		{item{Kind: "crash", Target: "redis-3"}.fault(), "redis-3 crashes"},
		{item{Kind: "crash", Target: "redis-3", How: "shutdown"}.fault(), "redis-3 is shut down"},
		{item{Kind: "crash", Target: "storage", How: "failover"}.fault(), "the storage loses its machine"},
		{item{Kind: "jump", Target: "storage", By: -second}.fault(), "the storage's clock jumps back by 1s"},
		{item{Kind: "partition", Target: "client-1", Others: []string{"redis-4", "redis-5", "storage"}}.fault(), "client-1 cannot reach redis-4, redis-5 and the storage"},
		{item{Kind: "reset", Target: "client-1", Others: []string{"storage"}}.fault(), "the connection between client-1 and the storage is cut"},
		{item{Kind: "delay", Target: "client-1", Others: []string{"redis-1"}, By: second, For: 2 * second}.fault(), "each message between client-1 and redis-1 takes 1s longer, for the next 2s"},
		{item{Kind: "hold", Target: "client-1's write request to storage", For: second}.fault(), "the network holds back client-1's write request to the storage for 1s"},
		{item{Kind: "hold", Target: "redis-2's reply to client-1's acquire, 3rd time"}.fault(), "the network holds back redis-2's third reply to client-1's acquire"},
		{item{Kind: "hold", Target: "client-1's extend request to redis-2, 2nd time", Before: "client-1 work"}.fault(), "the network holds back client-1's second extend request to redis-2 from then on"},
		{item{Kind: "hold", Target: "client-1's request to storage, 2nd time"}.fault(), "the network holds back client-1's second request to the storage"},
		{item{Kind: "hold", Target: "storage's reply to client-1"}.fault(), "the network holds back the storage's reply to client-1"},
		{item{Kind: "stall", Target: "client-1", Step: trace.Read}.fault(), "the storage stalls in the middle of client-1's read"},
		{item{Kind: "fail", Target: "redis-1", For: second}.fault(), "redis-1 answers every command with an error for 1s"},
	} {
		subject, does := story.FaultClause(test.fault.Info())
		if words := subject.String() + " " + does; words != test.words {
			t.Errorf("%v is %q, not %q", test.fault, words, test.words)
		}
	}
}
