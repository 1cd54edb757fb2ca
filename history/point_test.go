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
		{"in flight", "every reply to client-1's acquire is in flight", []trace.Event{send("redis-1", 1), send("redis-2", 1)}, []bool{false, true}},
		{"one arrived before", "every reply to client-1's acquire is in flight", []trace.Event{send("redis-1", 1), arrive("redis-1", 1), send("redis-2", 1)}, []bool{false, false, false}},
		{"another section", "every reply to client-1's acquire is in flight", []trace.Event{send("redis-1", 1), send("redis-2", 2), send("redis-1", 2)}, []bool{false, false, true}},
		{"another node", "every reply to client-1's acquire is in flight", []trace.Event{send("redis-1", 1), send("redis-3", 1)}, []bool{false, false}},
		{"arrived", "every reply to client-1's acquire arrived", []trace.Event{send("redis-1", 1), send("redis-2", 1), arrive("redis-2", 1), arrive("redis-1", 1)}, []bool{false, false, false, true}},
	} {
		r := Recognise(point(t, test.point), tr)
		var got []bool
		for i := range test.events {
			got = append(got, r.See(&test.events[i]))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// A client's keys count as expired even if a node that is down still has one of them,
// because no client can see that key.
func TestKeysOnNodesThatAreDown(t *testing.T) {
	owner := &trace.Actor{Client: "client-1", Section: 1}
	set := func(node string) trace.Event {
		return trace.Event{Kind: trace.KindSet, Process: node, Key: "k", Owner: owner, TTL: time.Second}
	}
	expire := func(node string) trace.Event {
		return trace.Event{Kind: trace.KindExpire, Process: node, Key: "k", Owner: owner}
	}
	for name, test := range map[string]struct {
		between []trace.Event
		reached bool
	}{
		"the other node is up":          {nil, false},
		"it is down":                    {[]trace.Event{{Kind: trace.KindCrash, Process: "b"}}, true},
		"it is back, and so is the key": {[]trace.Event{{Kind: trace.KindCrash, Process: "b"}, {Kind: trace.KindRestart, Process: "b"}}, false},
		"its key has expired":           {[]trace.Event{expire("b")}, true},
		"it has set one that stays":     {[]trace.Event{{Kind: trace.KindSet, Process: "b", Key: "counter", Owner: owner}, expire("b")}, true},
		"it got its expiry later":       {[]trace.Event{expire("b"), {Kind: trace.KindTouch, Process: "b", Key: "late", Owner: owner, TTL: time.Second}}, false},
	} {
		r := Recognise(point(t, "client-1's keys expired"), &trace.Trace{})
		last := false
		for _, ev := range slices.Concat([]trace.Event{set("a"), set("b")}, test.between, []trace.Event{expire("a")}) {
			last = r.See(&ev)
		}
		if last != test.reached {
			t.Errorf("%s: reached %v", name, last)
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
			t.Errorf("nobody knows when %q has happened", v)
		}
	}
	for _, form := range trace.PointForms() {
		words := strings.NewReplacer("CLIENT", "client-1", "CALLER", "client-1", "NODE", "redis-1", "SERVER", "redis-1", "PROCESS", "redis-1",
			"REQUEST", "write", "STEP", "acquire").Replace(form)
		Recognise(point(t, words), &trace.Trace{}).See(&trace.Event{Kind: trace.KindSend, Clocks: &trace.Clocks{}})
	}
}
