package explore

import (
	"testing"

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
		{Fault{Before: "client-1 write"}, "client-1", "just before it writes"},
		{Fault{Before: "client-1 write"}, "redis-3", "just before client-1 writes"},
		{Fault{Before: "client-1 acquire, 3rd time"}, "client-1", "just before it asks for the lock for the third time"},
		{Fault{When: "client-1 read"}, "redis-3", "once client-1 has read"},
		{Fault{When: "client-1 failed to acquire, 12th time"}, "client-1", "once it has failed to get the lock for the 12th time"},
		{Fault{When: "client-1 holds redis-2"}, "redis-2", "as client-1's key is set on it"},
		{Fault{When: "client-1's keys expired"}, "client-1", "as its keys expire"},
		{Fault{When: "client-1's key expired on redis-1"}, "storage", "as client-1's key on redis-1 expires"},
		{Fault{When: "redis-1's clock jumped"}, "redis-2", "as redis-1's clock jumps"},
		{Fault{When: "storage applied client-2's write"}, "storage", "once it has applied client-2's write"},
		{Fault{When: "client-1's write request to storage is in flight"}, "client-1", "as it sends its write request to the storage"},
		{Fault{When: "client-1's acquire request to redis-2 is in flight, 2nd time"}, "redis-2", "as client-1 sends its second acquire request to redis-2"},
		{Fault{When: "client-1's acquire request to redis-2 arrived, 3rd time"}, "redis-2", "as client-1's third acquire request reaches it"},
		{Fault{When: "client-1's request to redis-2 arrived"}, "client-1", "as a request of it reaches redis-2"},
		{Fault{When: "redis-2's reply to client-1's acquire is in flight"}, "redis-2", "as it answers client-1's acquire"},
		{Fault{When: "storage's reply to client-1's write arrived"}, "client-1", "as the storage's answer to its write arrives"},
		{Fault{When: "redis-2's reply to client-1 arrived, 2nd time"}, "redis-1", "as redis-2's answer to client-1 arrives for the second time"},
		{Fault{When: "5s after client-1 acquired"}, "client-1", "5s after it has the lock"},
		{Fault{When: "1s after the start"}, "client-1", "1s after the start"},
		{Fault{When: "client-1 released or client-1 crashed"}, "client-2", "once client-1 has released, or once client-1 has crashed"},
		{Fault{When: "every reply to client-1's acquire is in flight"}, "client-1", "when every reply to client-1's acquire is in flight"},
	} {
		if test.fault.When != "" {
			if _, err := trace.ParsePoint(test.fault.When); err != nil {
				t.Error(err)
			}
		}
		if words := test.fault.strikes(test.subject); words != test.words {
			t.Errorf("%s%s is %q, not %q", test.fault.Before, test.fault.When, words, test.words)
		}
	}
}

func TestFaultsInWords(t *testing.T) {
	for _, test := range []struct {
		fault Fault
		words string
	}{
		{Fault{Kind: "pause", Target: "client-1", For: 31 * second}, "client-1 pauses for 31s"},
		{Fault{Kind: "pause", Target: "storage", How: "suspend", For: 60 * second}, "the storage is suspended with its machine for 1m"},
		{Fault{Kind: "crash", Target: "redis-3"}, "redis-3 crashes"},
		{Fault{Kind: "crash", Target: "redis-3", How: "shutdown"}, "redis-3 is shut down"},
		{Fault{Kind: "crash", Target: "storage", How: "failover"}, "the storage loses its machine"},
		{Fault{Kind: "jump", Target: "storage", By: -second}, "the storage's clock jumps back by 1s"},
		{Fault{Kind: "partition", Target: "client-1", Others: []string{"redis-4", "redis-5", "storage"}}, "client-1 cannot reach redis-4, redis-5 and the storage"},
		{Fault{Kind: "reset", Target: "client-1", Others: []string{"storage"}}, "the connection between client-1 and the storage is cut"},
		{Fault{Kind: "delay", Target: "client-1", Others: []string{"redis-1"}, By: second, For: 2 * second}, "each message between client-1 and redis-1 takes 1s longer, for the next 2s"},
		{Fault{Kind: "hold", Target: "client-1's write request to storage", For: second}, "the network holds back client-1's write request to the storage for 1s"},
		{Fault{Kind: "hold", Target: "redis-2's reply to client-1's acquire, 3rd time"}, "the network holds back redis-2's third reply to client-1's acquire"},
		{Fault{Kind: "hold", Target: "client-1's extend request to redis-2, 2nd time", Before: "client-1 work"}, "the network holds back client-1's second extend request to redis-2 from then on"},
		{Fault{Kind: "hold", Target: "client-1's request to storage, 2nd time"}, "the network holds back client-1's second request to the storage"},
		{Fault{Kind: "hold", Target: "storage's reply to client-1"}, "the network holds back the storage's reply to client-1"},
		{Fault{Kind: "stall", Target: "client-1", Step: trace.Read}, "the storage stalls in the middle of client-1's read"},
		{Fault{Kind: "promote", Target: "replica"}, "replica takes over from its master"},
		{Fault{Kind: "fail", Target: "redis-1", For: second}, "redis-1 answers every command with an error for 1s"},
		{Fault{Kind: "drift", Target: "redis-1"}, "redis-1 suffers a drift"},
	} {
		subject, does := test.fault.happens()
		if words := named(subject) + " " + does; words != test.words {
			t.Errorf("%v is %q, not %q", test.fault, words, test.words)
		}
	}
}

func TestOrdinals(t *testing.T) {
	for n, want := range map[int]string{1: "first", 3: "third", 10: "tenth", 11: "11th", 13: "13th", 21: "21st", 42: "42nd", 103: "103rd", 111: "111th"} {
		if got := ordinal(n); got != want {
			t.Errorf("%d is %s, not %s", n, got, want)
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
