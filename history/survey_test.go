package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/trace"
)

// numbered returns a trace with these events, one each second.
func numbered(t trace.Trace, events ...trace.Event) *trace.Trace {
	for i := range events {
		events[i].Seq, events[i].At = i+1, time.Duration(i)*time.Second
	}
	t.Events = events
	return &t
}

// beginEvent and endEvent return the beginning and the end of a client's step.
func beginEvent(client string, s trace.Step) trace.Event {
	return trace.Event{Kind: trace.KindBegin, Process: client, Step: s}
}

func endEvent(client string, s trace.Step, ok bool) trace.Event {
	return trace.Event{Kind: trace.KindEnd, Process: client, Step: s, OK: ok}
}

// requestEvent and replyEvent return the sending of a request and of its reply. arrivalOf
// returns the arrival of a message that was sent.
func requestEvent(client, server string, s trace.Step) trace.Event {
	return trace.Event{Kind: trace.KindSend, Process: client, Peer: server, Conn: 1, Step: s}
}

func replyEvent(client, server string, s trace.Step) trace.Event {
	return trace.Event{Kind: trace.KindSend, Process: server, Peer: client, Conn: 1, Step: s, Reply: true}
}

func arrivalOf(ev trace.Event) trace.Event {
	ev.Kind, ev.Process, ev.Peer = trace.KindDeliver, ev.Peer, ev.Process
	return ev
}

// describeOccasion formats an occasion: what happens, in which stage, and in which call of
// the lock.
func describeOccasion(o *Occasion) string {
	var b strings.Builder
	if o.StepCall != nil {
		fmt.Fprintf(&b, "before %s", o.StepCall.Point())
	} else {
		fmt.Fprintf(&b, "%s (%d)", o.Point(), o.Message.Nth)
	}
	fmt.Fprintf(&b, ": %s", o.Stage)
	if o.ClientStage != o.Stage {
		fmt.Fprintf(&b, ", its client %s", o.ClientStage)
	}
	switch {
	case o.IsInCall():
		fmt.Fprintf(&b, "; in %s", o.Call.Point())
	case o.Call != nil:
		fmt.Fprintf(&b, "; after %s", o.Call.Point())
	}
	if o.Request != nil {
		fmt.Fprintf(&b, "; to %d", o.Request.Event.Seq)
	}
	return b.String()
}

// Steps and messages are counted as points of scenarios count them. Each occasion knows the
// step and the call that it belongs to.
func TestOccasions(t *testing.T) {
	world := trace.Trace{Processes: []trace.ProcessInfo{
		{Name: "client-1", Role: trace.RoleClient}, {Name: "client-2", Role: trace.RoleClient}, {Name: "a", Role: trace.RoleNode},
		{Name: "proxy", Role: trace.RoleService}, {Name: trace.StorageName, Role: trace.RoleStorage},
	}}
	hello := requestEvent("client-1", "a", trace.Acquire)
	hello.Handshake = true
	for _, c := range []struct {
		what   string
		events []trace.Event
		want   []string
	}{
		{"the messages of a call of the lock", []trace.Event{
			beginEvent("client-1", trace.Acquire),
			hello,
			requestEvent("client-1", "a", trace.Acquire),
			arrivalOf(requestEvent("client-1", "a", trace.Acquire)),
			replyEvent("client-1", "a", trace.Acquire),
			arrivalOf(replyEvent("client-1", "a", trace.Acquire)),
			endEvent("client-1", trace.Acquire, true),
		}, []string{
			"before client-1 acquire: acquire; in client-1 acquire",
			"client-1's acquire request to a is in flight (1): acquire; in client-1 acquire",
			"client-1's acquire request to a arrived (1): acquire; in client-1 acquire",
			"a's reply to client-1's acquire is in flight (1): acquire; in client-1 acquire; to 3",
			"a's reply to client-1's acquire arrived (1): acquire; in client-1 acquire",
		}},
		{"replies go to the requests on their connection, in order", []trace.Event{
			requestEvent("client-1", "a", trace.Acquire), requestEvent("client-2", "a", trace.Acquire), requestEvent("client-1", "a", trace.Acquire),
			replyEvent("client-1", "a", trace.Acquire), replyEvent("client-1", "a", trace.Acquire), replyEvent("client-1", "a", trace.Acquire),
		}, []string{
			"client-1's acquire request to a is in flight (1): between steps",
			"client-2's acquire request to a is in flight (1): between steps",
			"client-1's acquire request to a is in flight, 2nd time (2): between steps",
			"a's reply to client-1's acquire is in flight (1): between steps; to 1",
			"a's reply to client-1's acquire is in flight, 2nd time (2): between steps; to 3",
			"a's reply to client-1's acquire is in flight, 3rd time (3): between steps",
		}},
		// Messages that a lock sends during a step that is not a call of the lock are
		// counted together with all others.
		{"messages of steps that are no calls of the lock", []trace.Event{
			beginEvent("client-1", trace.Extend), requestEvent("client-1", "a", trace.Extend), endEvent("client-1", trace.Extend, true),
			beginEvent("client-1", trace.Work), requestEvent("client-1", "a", trace.Work), endEvent("client-1", trace.Work, true),
			requestEvent("client-1", "a", ""),
		}, []string{
			"before client-1 extend: extend; in client-1 extend",
			"client-1's extend request to a is in flight (1): extend; in client-1 extend",
			"before client-1 work: work; after client-1 extend",
			"client-1's request to a is in flight, 2nd time (2): work; after client-1 extend",
			"client-1's request to a is in flight, 3rd time (3): between steps; after client-1 extend",
		}},
		// The name of a request contains its step only if the request goes to the storage
		// itself.
		{"a request to the storage through a service", []trace.Event{
			beginEvent("client-1", trace.Write), requestEvent("client-1", "proxy", trace.Write), requestEvent("proxy", trace.StorageName, trace.Write),
		}, []string{
			"before client-1 write: write",
			"client-1's request to proxy is in flight (1): write",
			"proxy's write request to storage is in flight (1): write",
		}},
		{"steps that occur more than once", []trace.Event{
			beginEvent("client-1", trace.Acquire), endEvent("client-1", trace.Acquire, false),
			beginEvent("client-2", trace.Acquire), endEvent("client-2", trace.Acquire, false),
			beginEvent("client-1", trace.Acquire),
			endEvent("client-1", trace.Extend, true), // an extension that the lock makes by itself is not a step of the client
			beginEvent("client-1", trace.Extend),
		}, []string{
			"before client-1 acquire: acquire; in client-1 acquire",
			"before client-2 acquire: acquire; in client-2 acquire",
			"before client-1 acquire, 2nd time: acquire; in client-1 acquire, 2nd time",
			"before client-1 extend: extend; in client-1 extend",
		}},
		// A node counts as being in the step of the lock's holder, even while it answers
		// another client. Without a holder it counts as being in the step of any client.
		{"the stage of a node", []trace.Event{
			beginEvent("client-2", trace.Acquire), replyEvent("client-1", "a", ""),
			endEvent("client-2", trace.Acquire, true), beginEvent("client-1", trace.Acquire), replyEvent("client-1", "a", trace.Acquire),
			beginEvent("client-2", trace.Release), replyEvent("client-1", "a", trace.Acquire),
		}, []string{
			"before client-2 acquire: acquire; in client-2 acquire",
			"a's reply to client-1 is in flight (1): acquire, its client between steps",
			"before client-1 acquire: acquire; in client-1 acquire",
			"a's reply to client-1's acquire is in flight (1): between steps, its client acquire; in client-1 acquire",
			"before client-2 release: release; in client-2 release",
			"a's reply to client-1's acquire is in flight, 2nd time (2): acquire; in client-1 acquire",
		}},
	} {
		var got []string
		for _, o := range New(numbered(world, c.events...)).Occasions() {
			got = append(got, describeOccasion(o))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n  %s\nwant\n  %s", c.what, strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
		}
	}
}

// The point of each occasion is reached with its message, and with no other event.
func TestPointsOfOccasionsAreRecognised(t *testing.T) {
	var events []trace.Event
	for range 3 {
		for _, s := range []trace.Step{trace.Acquire, trace.Work, ""} {
			events = append(events, requestEvent("client-1", "a", s), arrivalOf(requestEvent("client-1", "a", s)), replyEvent("client-1", "a", s), arrivalOf(replyEvent("client-1", "a", s)))
		}
	}
	tr := numbered(trace.Trace{}, events...)
	for _, o := range New(tr).Occasions() {
		p := o.Point()
		if o.Message.Nth == 1 { // a point without a number is reached each time, and this is the first time
			p = point(t, p.String()+", 1st time")
		}
		r := Recognise(p, tr)
		for i := range tr.Events {
			if ev := &tr.Events[i]; r.See(ev) != (ev == o.Event) {
				t.Errorf("%s is recognised with event %d, want it recognised with event %d alone", p, ev.Seq, o.Event.Seq)
			}
		}
	}
}

// Only the reply of a node that does not know a script counts as [UnknownScript], and no
// other reply or request.
func TestUnknownScript(t *testing.T) {
	for _, c := range []struct {
		ev   trace.Event
		want bool
	}{
		{trace.Event{Reply: true, Text: "NOSCRIPT No matching script. Please use EVAL."}, true},
		{trace.Event{Reply: true, Text: "LOADING Redis is loading the dataset in memory"}, false},
		{trace.Event{Text: "NOSCRIPT"}, false},
	} {
		if got := UnknownScript(&c.ev); got != c.want {
			t.Errorf("UnknownScript(%+v) is %v, want %v", c.ev, got, c.want)
		}
	}
}
