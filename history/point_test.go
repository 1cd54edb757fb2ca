package history

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/trace"
)

// "every reply to …" is in flight when all nodes of the lock have replied in one section
// and none of the replies has arrived. It has arrived when all of the replies have arrived.
func TestEveryTransit(t *testing.T) {
	tr := &trace.Trace{Locks: []trace.LockInfo{{Slots: []trace.SlotInfo{{Node: "redis-1"}, {Node: "redis-2"}}}}}
	send := func(node string, section int) trace.Event {
		return trace.Event{Kind: trace.KindSend, Process: node, Peer: "client-1", Reply: true, Section: section, Step: trace.Acquire}
	}
	arrive := func(node string, section int) trace.Event {
		return trace.Event{Kind: trace.KindDeliver, Process: "client-1", Peer: node, Reply: true, Section: section, Step: trace.Acquire}
	}
	for _, test := range []struct {
		name   string
		point  string
		events []trace.Event
		want   []bool
	}{
		{"both nodes have replied, and no reply has arrived", "every reply to client-1's acquire is in flight", []trace.Event{send("redis-1", 1), send("redis-2", 1)}, []bool{false, true}},
		{"one reply arrives before the other is sent", "every reply to client-1's acquire is in flight", []trace.Event{send("redis-1", 1), arrive("redis-1", 1), send("redis-2", 1)}, []bool{false, false, false}},
		{"the nodes reply in different sections", "every reply to client-1's acquire is in flight", []trace.Event{send("redis-1", 1), send("redis-2", 2), send("redis-1", 2)}, []bool{false, false, true}},
		{"a node that is not the lock's replies", "every reply to client-1's acquire is in flight", []trace.Event{send("redis-1", 1), send("redis-3", 1)}, []bool{false, false}},
		{"both replies arrive", "every reply to client-1's acquire arrived", []trace.Event{send("redis-1", 1), send("redis-2", 1), arrive("redis-2", 1), arrive("redis-1", 1)}, []bool{false, false, false, true}},
	} {
		r := Recognise(point(t, test.point), tr)
		var got []bool
		for i := range test.events {
			got = append(got, r.See(&test.events[i]))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: reached at each event: %v, want %v", test.name, got, test.want)
		}
	}
}

// A client's keys count as expired even if a node that is down still has one of them,
// because no client can see that key.
func TestKeysExpiredWithNodesDown(t *testing.T) {
	owner := &trace.Actor{Client: "client-1", Section: 1}
	set := func(node string) trace.Event {
		return trace.Event{Kind: trace.KindSet, Process: node, Key: "k", Owner: owner, TTL: time.Second}
	}
	expire := func(node string) trace.Event {
		return trace.Event{Kind: trace.KindExpire, Process: node, Key: "k", Owner: owner}
	}
	for name, test := range map[string]struct {
		between []trace.Event // what happens after both keys were set and before the key on a expires
		reached bool
	}{
		"the other node is up":                        {nil, false},
		"the other node is down":                      {[]trace.Event{{Kind: trace.KindCrash, Process: "b"}}, true},
		"the other node has restarted with its key":   {[]trace.Event{{Kind: trace.KindCrash, Process: "b"}, {Kind: trace.KindRestart, Process: "b"}}, false},
		"the key on the other node has expired":       {[]trace.Event{expire("b")}, true},
		"the other node also has a key without a TTL": {[]trace.Event{{Kind: trace.KindSet, Process: "b", Key: "counter", Owner: owner}, expire("b")}, true},
		"a key on the other node got its TTL later":   {[]trace.Event{expire("b"), {Kind: trace.KindTouch, Process: "b", Key: "late", Owner: owner, TTL: time.Second}}, false},
	} {
		r := Recognise(point(t, "client-1's keys expired"), &trace.Trace{})
		last := false
		for _, ev := range slices.Concat([]trace.Event{set("a"), set("b")}, test.between, []trace.Event{expire("a")}) {
			last = r.See(&ev)
		}
		if last != test.reached {
			t.Errorf("%s: the keys count as expired: %v, want %v", name, last, test.reached)
		}
	}
}

// point parses a point of a scenario.
func point(t *testing.T, text string) trace.Point {
	t.Helper()
	p, err := trace.ParsePoint(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Every happening and every verb of the grammar is recognised.
func TestEveryHappeningIsRecognised(t *testing.T) {
	for _, v := range trace.Verbs() {
		if verbPredicates[v] == nil {
			t.Errorf("the verb %q has no predicate", v)
		}
	}
	for _, form := range trace.PointForms() {
		words := strings.NewReplacer("CLIENT", "client-1", "CALLER", "client-1", "NODE", "redis-1", "SERVER", "redis-1", "PROCESS", "redis-1",
			"REQUEST", "write", "STEP", "acquire").Replace(form)
		Recognise(point(t, words), &trace.Trace{}).See(&trace.Event{Kind: trace.KindSend, Clocks: &trace.Clocks{}})
	}
}
