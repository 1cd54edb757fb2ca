package locktest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A script builds a trace, one event at a time, with short calls.
type script struct{ trace trace.Trace }

func (s *script) add(ev trace.Event) {
	ev.Seq = len(s.trace.Events) + 1
	s.trace.Events = append(s.trace.Events, ev)
}

func (s *script) begin(client string, step trace.Step) {
	s.add(trace.Event{Kind: trace.KindBegin, Process: client, Step: step})
}

func (s *script) end(client string, step trace.Step, ok bool) {
	s.add(trace.Event{Kind: trace.KindEnd, Process: client, Step: step, OK: ok})
}

func (s *script) sendRequest(client, node string, step trace.Step) {
	s.add(trace.Event{Kind: trace.KindSend, Process: client, Peer: node, Step: step, Conn: 1})
}

func (s *script) sendReply(node, client string, step trace.Step) {
	s.add(trace.Event{Kind: trace.KindSend, Process: node, Peer: client, Step: step, Reply: true, Conn: 1})
}

// roundTrip adds a request and its reply to the trace.
func (s *script) roundTrip(client, node string, step trace.Step) {
	s.sendRequest(client, node, step)
	s.sendReply(node, client, step)
}

// describeExchange returns an exchange as text: its call and round, its flags, and its
// messages, each with its number. The words for the flags are: granted (the call acquired
// the lock), again (an earlier attempt had failed), returns (the client acquires the lock
// once more after a release), own next (the client acquires the lock later), another
// (another client acquires the lock later).
func describeExchange(x *exchange) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, round %d:", x.call, x.round)
	for _, flag := range []struct {
		is   bool
		word string
	}{{x.granted, "granted"}, {x.afterFailure, "again"}, {x.reacquires, "returns"}, {x.acquiresAgain, "own next"}, {x.anotherAcquires, "another"}} {
		if flag.is {
			b.WriteString(" " + flag.word)
		}
	}
	for _, m := range x.requests {
		fmt.Fprintf(&b, "; %s %d", m.Message, m.Nth)
	}
	for _, m := range x.replies {
		fmt.Fprintf(&b, "; %s %d", m.Message, m.Nth)
		if m.node != m.Peer {
			fmt.Fprintf(&b, " for %s", m.node)
		}
	}
	return b.String()
}

// exchanges puts the messages of a run into groups of requests that belong together. It
// numbers each message as a point of a scenario does.
func TestExchanges(t *testing.T) {
	s := &script{trace.Trace{Locks: []trace.LockInfo{{Slots: []trace.SlotInfo{{Node: "a"}, {Node: "b"}}}}}}
	// client-1 acquires the lock and asks both nodes at the same time: both requests are
	// sent before a reply arrives.
	s.begin("client-1", trace.Acquire)
	s.sendRequest("client-1", "a", trace.Acquire)
	s.sendRequest("client-1", "b", trace.Acquire)
	s.sendReply("b", "client-1", trace.Acquire)
	s.sendReply("a", "client-1", trace.Acquire)
	s.end("client-1", trace.Acquire, true)
	s.begin("client-1", trace.Read)
	s.roundTrip("client-1", trace.StorageName, trace.Read)
	s.end("client-1", trace.Read, true)
	// client-2 fails to acquire the lock and cleans up, one node after the other. The node
	// "elsewhere" does not keep the lock.
	s.begin("client-2", trace.Acquire)
	s.roundTrip("client-2", "elsewhere", trace.Acquire)
	s.roundTrip("client-2", "a", trace.Acquire)
	s.roundTrip("client-2", "b", trace.Acquire)
	s.roundTrip("client-2", "a", trace.Acquire)
	s.roundTrip("client-2", "b", trace.Acquire)
	s.end("client-2", trace.Acquire, false)
	// The watchdog of client-1 sends a request outside of any call of the lock.
	s.begin("client-1", trace.Work)
	s.roundTrip("client-1", "a", trace.Work)
	s.end("client-1", trace.Work, true)
	s.begin("client-1", trace.Release)
	s.roundTrip("client-1", "a", trace.Release)
	s.end("client-1", trace.Release, true)
	// The second attempt of client-2 succeeds.
	s.begin("client-2", trace.Acquire)
	s.roundTrip("client-2", "a", trace.Acquire)
	s.end("client-2", trace.Acquire, true)

	var got []string
	for _, x := range exchanges(history.New(&s.trace)) {
		got = append(got, describeExchange(x))
	}
	want := []string{
		"client-1 acquire, round 1: granted another; client-1's acquire request to a 1; client-1's acquire request to b 1; b's reply to client-1's acquire 1; a's reply to client-1's acquire 1",
		"client-1 work, round 1: another; storage's reply to client-1's read 1 for a; storage's reply to client-1's read 1 for b",
		"client-2 acquire, round 1: own next; client-2's acquire request to a 1; client-2's acquire request to b 1; a's reply to client-2's acquire 1; b's reply to client-2's acquire 1",
		"client-2 acquire, round 2: own next; client-2's acquire request to a 2; client-2's acquire request to b 2; a's reply to client-2's acquire 2; b's reply to client-2's acquire 2",
		"client-1 , round 1: another; client-1's request to a 2; a's reply to client-1 2",
		"client-1 release, round 1: another; client-1's release request to a 1; a's reply to client-1's release 1",
		"client-2 acquire, 2nd time, round 1: granted again; client-2's acquire request to a 3; a's reply to client-2's acquire 3",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// For each recorded message there is a point at which a fault can strike. In the recorded
// run, that point is reached exactly once, by that message.
func TestRecordedMessagesAreReachedOnce(t *testing.T) {
	for _, c := range []struct {
		kind  string
		nodes int
	}{{"redlock", 5}, {"watchdog", 1}} {
		s := newSubjectOn(t, c.nodes, constructorOf(t, c.kind))
		s.config.Extends = c.kind == "redlock"
		for _, b := range bases {
			tr, err := sim.Run(b.config(s, 1))
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range exchanges(history.New(tr)) {
				for _, m := range append(x.requests, x.replies...) {
					var seen []*trace.Event
					matcher := history.Recognise(m.inFlight(), tr)
					for i := range tr.Events {
						if ev := &tr.Events[i]; matcher.See(ev) {
							seen = append(seen, ev)
						}
					}
					if len(seen) != 1 {
						t.Fatalf("%s, workload %s: the point %q is reached %d times, want once", c.kind, b.name, m.inFlight(), len(seen))
					}
					client, node := seen[0].Process, seen[0].Peer
					if seen[0].Reply {
						client, node = node, client
					}
					if client != x.call.Client || node != m.Peer {
						t.Errorf("%s, workload %s: the message at %q is between %s and %s, want %s and %s", c.kind, b.name, m.inFlight(), client, node, x.call.Client, m.Peer)
					}
				}
			}
		}
	}
}

// A record has the first exchange of each class. An exchange is a round of requests with
// their replies; exchanges of one class have the same place in the workload.
func TestRecord(t *testing.T) {
	s := newSubjectOn(t, 5, constructorOf(t, "redlock"))
	steady := s.record(bases[0], 1)
	if s.record(bases[0], 1) != steady {
		t.Error("the record of a workload on a seed is not kept for the second call")
	}
	if s.record(bases[0], 2) == steady {
		t.Error("the records on seeds 1 and 2 are the same, want one for each seed")
	}
	var got []string
	for _, x := range steady.exchanges {
		text := string(x.step)
		if x.step == trace.Acquire {
			text += fmt.Sprintf(" granted %v again %v round %d", x.granted, x.afterFailure, x.round)
		}
		if x.step == trace.Release {
			text += fmt.Sprintf(" returns %v", x.reacquires)
		}
		got = append(got, text)
		for _, side := range [][]sending{x.requests, x.replies} {
			if len(side) != 5 && !(x.step == trace.Work && len(side) == 0) {
				t.Errorf("%s: %d messages, want one for each node", text, len(side))
			}
		}
	}
	// Redlock asks each node once, and once more to clean up after a failure. At first the
	// nodes do not know the scripts; the requests that find this out do not count.
	want := []string{
		"acquire granted true again false round 1",
		"work",
		"acquire granted false again false round 1",
		"acquire granted false again false round 2",
		"extend",
		"release returns false",
		"acquire granted true again true round 1",
		"release returns true",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
