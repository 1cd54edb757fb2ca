package explore

import (
	"testing"

	"github.com/locksim/locksim/story"
	"github.com/locksim/locksim/trace"
)

// Every point at which a fault can strike reads as English, whoever the sentence is
// about.
func TestPointsInWords(t *testing.T) {
	for _, test := range []struct {
		fault          Fault
		subject, words string
	}{
		{Fault{}, "client-1", ""},
		{item{Before: "client-1 write"}.fault(), "client-1", "just before it writes"},
		{item{Before: "client-1 write"}.fault(), "redis-3", "just before client-1 writes"},
		{item{Before: "client-1 acquire, 3rd time"}.fault(), "client-1", "just before it asks for the lock for the third time"},
		{item{When: "client-1 read"}.fault(), "redis-3", "once client-1 has read"},
		{item{When: "client-1 failed to acquire, 12th time"}.fault(), "client-1", "once it has failed to get the lock for the 12th time"},
		{item{When: "client-1 holds redis-2"}.fault(), "redis-2", "as client-1's key is set on it"},
		{item{When: "client-1's keys expired"}.fault(), "client-1", "as its keys expire"},
		{item{When: "client-1's key expired on redis-1"}.fault(), "storage", "as client-1's key on redis-1 expires"},
		{item{When: "redis-1's clock jumped"}.fault(), "redis-2", "as redis-1's clock jumps"},
		{item{When: "storage applied client-2's write"}.fault(), "storage", "once it has applied client-2's write"},
		{item{When: "client-1's write request to storage is in flight"}.fault(), "client-1", "as it sends its write request to the storage"},
		{item{When: "client-1's acquire request to redis-2 is in flight, 2nd time"}.fault(), "redis-2", "as client-1 sends its second acquire request to redis-2"},
		{item{When: "client-1's acquire request to redis-2 arrived, 3rd time"}.fault(), "redis-2", "as client-1's third acquire request reaches it"},
		{item{When: "client-1's request to redis-2 arrived"}.fault(), "client-1", "as a request of it reaches redis-2"},
		{item{When: "redis-2's reply to client-1's acquire is in flight"}.fault(), "redis-2", "as it answers client-1's acquire"},
		{item{When: "storage's reply to client-1's write arrived"}.fault(), "client-1", "as the storage's answer to its write arrives"},
		{item{When: "redis-2's reply to client-1 arrived, 2nd time"}.fault(), "redis-1", "as redis-2's answer to client-1 arrives for the second time"},
		{item{When: "5s after client-1 acquired"}.fault(), "client-1", "5s after it has the lock"},
		{item{When: "1s after the start"}.fault(), "client-1", "1s after the start"},
		{item{When: "client-1 released or client-1 crashed"}.fault(), "client-2", "once client-1 has released, or once client-1 has crashed"},
		{item{When: "every reply to client-1's acquire is in flight"}.fault(), "client-1", "when every reply to client-1's acquire is in flight"},
	} {
		if words := story.When(test.fault.Strikes, test.subject); words != test.words {
			t.Errorf("%s is %q, not %q", test.fault.Strikes, words, test.words)
		}
	}
}

func TestFaultsInWords(t *testing.T) {
	for _, test := range []struct {
		fault Fault
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

func TestSeries(t *testing.T) {
	for _, test := range []struct {
		does []string
		want string
	}{
		{nil, ""},
		{[]string{"reads"}, "reads"},
		{[]string{"reads", "writes"}, "reads and writes"},
		{[]string{"reads", "writes", "releases"}, "reads, writes and releases"},
		{[]string{"gets the lock on redis-1 and redis-2", "reads"}, "gets the lock on redis-1 and redis-2, and reads"},
		{[]string{"wakes up", "writes over it, which is lost"}, "wakes up and writes over it, which is lost"},
	} {
		if got := series(test.does); got != test.want {
			t.Errorf("%v is %q, not %q", test.does, got, test.want)
		}
	}
}
