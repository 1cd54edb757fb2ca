package checks

import (
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// historyOf returns the history of the trace that traceFromWords makes.
func historyOf(words string) *history.History { return history.New(traceFromWords(words)) }

// traceFromWords makes a trace of client-1 and the node redis-1. Each word is one event, a
// second after the event before: see [wordEvents]. The word "..." comes a minute later.
func traceFromWords(words string) *trace.Trace {
	t := &trace.Trace{
		Processes: []trace.ProcessInfo{{Name: "client-1", Role: trace.RoleClient}, {Name: "redis-1", Role: trace.RoleNode}},
		Locks:     []trace.LockInfo{{Name: "lock", TTL: 2500 * time.Millisecond, Quorum: 1, Claims: trace.Claims{Notifies: true}, Slots: []trace.SlotInfo{{Node: "redis-1", Key: "k"}}}},
		Faults:    []trace.FaultInfo{{}},
	}
	now := -time.Second
	for word := range strings.FieldsSeq(words) {
		now += time.Second
		if word == "..." {
			now += time.Minute
		}
		ev := wordEvents[word]
		ev.Seq, ev.At = len(t.Events)+1, now
		t.Events = append(t.Events, ev)
	}
	return t
}

// owner is the acquisition whose key the words of [wordEvents] are about.
var owner = &trace.Actor{Client: "client-1", Section: 1}

// clientEvent returns an event of a step of client-1's first section.
func clientEvent(kind trace.Kind, step trace.Step) trace.Event {
	return trace.Event{Kind: kind, Process: "client-1", Section: 1, Step: step, OK: true, Lock: "lock", Notifies: true}
}

// keyEvent returns an event about client-1's key on redis-1.
func keyEvent(kind trace.Kind) trace.Event {
	return trace.Event{Kind: kind, Process: "redis-1", Key: "k", Owner: owner}
}

// wordEvents maps each word of [traceFromWords] to its event, without time and number. The
// word "-" is an event that means nothing to the lock, so a second passes. "asks" begins acquire
// and "gets" ends it with a grant; "leaves" begins release, "left" ends it with success and
// "fails" with an error; "told" notifies the client of its loss; "again" begins another acquire.
var wordEvents = map[string]trace.Event{
	"...":         {Kind: trace.KindSync, Process: "redis-1"},
	"horizon":     {Kind: trace.KindHorizon},
	"clock":       {Kind: trace.KindClock, Process: "redis-1", Clocks: &trace.Clocks{}},
	"set-back":    {Kind: trace.KindClock, Process: "redis-1", Clocks: &trace.Clocks{Wall: -int64(time.Hour), Why: trace.Jumped}},
	"set-forward": {Kind: trace.KindClock, Process: "redis-1", Clocks: &trace.Clocks{Wall: int64(time.Hour), Why: trace.Jumped}},
	"late-asks":   {Kind: trace.KindBegin, Process: "client-1", Section: 1, Step: trace.Acquire, Lock: "lock", ContextEnded: true},
	"again":       {Kind: trace.KindBegin, Process: "client-1", Section: 2, Step: trace.Acquire, Lock: "lock"},
	"sends":       {Kind: trace.KindSend, Process: "client-1", Peer: "redis-1", Section: 1, Step: trace.Acquire, Text: "SET k v NX"},
	"sets":        {Kind: trace.KindSet, Process: "redis-1", Key: "k", Owner: owner, By: &trace.Actor{Client: "client-1", Section: 1, Sent: 2}}, // with a request that was the second event
	"refused":     {Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Acquire},
	"prolongs":    clientEvent(trace.KindBegin, trace.Extend),
	"-":           {Kind: trace.KindSync, Process: "redis-1"},
	"asks":        clientEvent(trace.KindBegin, trace.Acquire),
	"gets":        clientEvent(trace.KindEnd, trace.Acquire),
	"leaves":      clientEvent(trace.KindBegin, trace.Release),
	"left":        clientEvent(trace.KindEnd, trace.Release),
	"cancels":     clientEvent(trace.KindCancel, trace.Release),
	"fails":       {Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Release},
	"told":        clientEvent(trace.KindLost, ""),
	"dies":        {Kind: trace.KindCrash, Process: "client-1"},
	"jumps":       {Kind: trace.KindClock, Process: "client-1", Clocks: &trace.Clocks{Why: trace.Jumped}},
	"set":         keyEvent(trace.KindSet),
	"rewrites":    {Kind: trace.KindSet, Process: "redis-1", Key: "k", Owner: owner, By: &trace.Actor{Client: "client-1", Section: 1, Sent: 5}}, // with a request that was the fifth event
	"shortens":    {Kind: trace.KindSet, Process: "redis-1", Key: "k", Owner: owner, By: &trace.Actor{Client: "client-1", Section: 1, Sent: 5}, TTL: time.Second},
	"other-asks":  {Kind: trace.KindBegin, Process: "client-2", Section: 1, Step: trace.Acquire, Lock: "lock"},
	"other-fails": {Kind: trace.KindEnd, Process: "client-2", Section: 1, Step: trace.Acquire},
	"expires":     keyEvent(trace.KindExpire),
	"removed":     keyEvent(trace.KindDelete),
	"dropped":     {Kind: trace.KindDelete, Process: "redis-1", Key: "k", Owner: owner, By: owner},
	"stolen":      {Kind: trace.KindDelete, Process: "redis-1", Key: "k", Owner: owner, By: &trace.Actor{Client: "client-2", Section: 1}},
	"cancelled":   {Kind: trace.KindSend, Process: "client-1", Peer: "redis-1", Section: 1, Step: trace.Acquire, Text: "cancels Txn"},
	"del":         {Kind: trace.KindSend, Process: "client-1", Peer: "redis-1", Step: trace.Release, Text: "DEL k"},
	"get":         {Kind: trace.KindSend, Process: "client-1", Peer: "redis-1", Text: "GET k"},
	"ping":        {Kind: trace.KindSend, Process: "client-1", Peer: "redis-1", Text: "PING"},
	"strike":      {Kind: trace.KindStrike, Fault: 1},
	"lift":        {Kind: trace.KindLift, Fault: 1},
	"injection":   {Kind: trace.KindStrike, Fault: 1, Instant: true},
}

// These kinds of misconduct depend on what happens after a loss or a release. The TTL is
// two and a half seconds, so anything that must last longer takes three words.
func TestAftermath(t *testing.T) {
	for _, c := range []struct {
		name, words string
		want        Property
	}{
		{"unnotified after the key expired", "asks set gets expires - - -", ClaimNotifies},
		{"unnotified after the key was removed", "asks set gets removed - - -", ClaimNotifies},
		{"unnotified for less than a TTL", "asks set gets expires - -", ""},
		{"notified within a TTL", "asks set gets expires - told - - -", ""},
		{"notified after a TTL", "asks set gets expires - - told", ClaimNotifies},
		{"released within a TTL", "asks set gets expires - leaves - - left", ""},
		{"the key is set again within a TTL", "asks set gets expires - set - - - -", ""},
		{"the client crashes", "asks set gets expires dies - - -", ""},
		{"unnotified while a fault acts", "asks set gets strike expires - - - -", ""},
		{"unnotified for less than a TTL since a fault was lifted", "asks set gets strike expires - lift - -", ""},
		{"unnotified for a TTL since a fault was lifted", "asks set gets strike expires - lift - - -", ClaimNotifies},
		{"an instant fault strikes in the TTL", "asks set gets expires - injection - -", ""},
		{"the client's clock was set before the loss", "asks set gets jumps expires - - -", ""},
		{"the client's clock was set a TTL after the loss", "asks set gets expires - - - jumps", ClaimNotifies},

		{"five commands about the key, a TTL after the release", "asks set gets leaves removed left - - - get get get get get", trafficAfterRelease},
		{"four commands about the key, a TTL after the release", "asks set gets leaves removed left - - - get get get get", ""},
		{"five other commands, a TTL after the release", "asks set gets leaves removed left - - - ping ping ping ping ping", ""},
		{"commands about the key right after the release", "asks set gets leaves removed left get get get get get get", ""},
		{"the client acquires again before the fifth command", "asks set gets leaves removed left - - - get get get get asks get", ""},
		{"five commands about the key while a fault acts", "asks set gets leaves removed left strike - - get get get get get", ""},

		{"the key is left behind", "asks set gets leaves left - expires", KeyLeftBehind},
		{"release sent a command about the key", "asks set gets leaves del left - expires", ""},
		{"a command about the key was sent after release had returned", "asks set gets leaves left del - expires", ""},
		{"a command about the key was sent before release was called", "asks set gets del leaves left - expires", KeyLeftBehind},
		{"release writes the key again, and another client asks in vain", "asks set gets leaves del rewrites left other-asks other-fails expires", KeyLeftBehind},
		{"release writes the key again, and nobody asks", "asks set gets leaves del rewrites left - - expires", ""},
		{"release gives the key a shorter expiry, and another client asks in vain", "asks set gets leaves del shortens left other-asks other-fails expires", ""},
		{"release returned an error", "asks set gets leaves fails - expires", ReleaseFails},
		{"release has not returned when the key expires", "asks set gets leaves - expires left", ""},
		{"the client cancelled the call of release", "asks set gets leaves cancels left - expires", ""},
		{"the key was removed", "asks set gets leaves left - removed", ""},
		{"an instant fault struck after release", "asks set gets leaves left injection expires", ""},
		{"an instant fault struck before release", "asks set gets injection leaves left - expires", KeyLeftBehind},
	} {
		var got Property
		for _, f := range Check(historyOf(c.words), nil).Findings {
			if f.Property.Card().Subject != SubjectMisconduct {
				continue
			}
			got += f.Property
			if len(f.Events) < 2 || f.Blame != BlameLock {
				t.Errorf("%s: %s is shown by the events %v with the blame %v, want two events or more and the lock", c.name, f.Property, f.Events, f.Blame)
			}
		}
		if got != c.want {
			t.Errorf("%s (%s): got %q, want %q", c.name, c.words, got, c.want)
		}
	}
}
