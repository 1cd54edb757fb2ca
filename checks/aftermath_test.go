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
// word "-" is an event that means nothing to the lock, so a second passes.
var wordEvents = map[string]trace.Event{
	"...":       {Kind: trace.KindSync, Process: "redis-1"},
	"horizon":   {Kind: trace.KindHorizon},
	"late-asks": {Kind: trace.KindBegin, Process: "client-1", Section: 1, Step: trace.Acquire, Lock: "lock", ContextEnded: true},
	"again":     {Kind: trace.KindBegin, Process: "client-1", Section: 2, Step: trace.Acquire, Lock: "lock"},
	"sends":     {Kind: trace.KindSend, Process: "client-1", Peer: "redis-1", Section: 1, Step: trace.Acquire, Text: "SET k v NX"},
	"sets":      {Kind: trace.KindSet, Process: "redis-1", Key: "k", Owner: owner, By: &trace.Actor{Client: "client-1", Section: 1, Sent: 2}}, // with a request that was the second event
	"refused":   {Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Acquire},
	"prolongs":  clientEvent(trace.KindBegin, trace.Extend),
	"-":         {Kind: trace.KindSync, Process: "redis-1"},
	"asks":      clientEvent(trace.KindBegin, trace.Acquire),
	"gets":      clientEvent(trace.KindEnd, trace.Acquire),
	"leaves":    clientEvent(trace.KindBegin, trace.Release),
	"left":      clientEvent(trace.KindEnd, trace.Release),
	"cancels":   clientEvent(trace.KindCancel, trace.Release),
	"fails":     {Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Release},
	"told":      clientEvent(trace.KindLost, ""),
	"dies":      {Kind: trace.KindCrash, Process: "client-1"},
	"jumps":     {Kind: trace.KindClock, Process: "client-1", Clocks: &trace.Clocks{Why: trace.Jumped}},
	"set":       keyEvent(trace.KindSet),
	"expires":   keyEvent(trace.KindExpire),
	"removed":   keyEvent(trace.KindDelete),
	"del":       {Kind: trace.KindSend, Process: "client-1", Peer: "redis-1", Step: trace.Release, Text: "DEL k"},
	"get":       {Kind: trace.KindSend, Process: "client-1", Peer: "redis-1", Text: "GET k"},
	"ping":      {Kind: trace.KindSend, Process: "client-1", Peer: "redis-1", Text: "PING"},
	"strike":    {Kind: trace.KindStrike, Fault: 1},
	"lift":      {Kind: trace.KindLift, Fault: 1},
	"injection": {Kind: trace.KindStrike, Fault: 1, Instant: true},
}

// These kinds of misconduct depend on what happens after a loss or a release. The TTL is
// two and a half seconds, so anything that must last longer takes three words.
func TestAftermath(t *testing.T) {
	for _, c := range []struct {
		name, words string
		want        Property
	}{
		{"unnotified", "asks set gets expires - - -", ClaimNotifies},
		{"unnotified", "asks set gets removed - - -", ClaimNotifies},
		{"not for a TTL", "asks set gets expires - -", ""},
		{"it is told in time", "asks set gets expires - told - - -", ""},
		{"it is told, too late", "asks set gets expires - - told", ClaimNotifies},
		{"it leaves in time", "asks set gets expires - leaves - - left", ""},
		{"it gets the key again", "asks set gets expires - set - - - -", ""},
		{"it crashes", "asks set gets expires dies - - -", ""},
		{"a fault acts", "asks set gets strike expires - - - -", ""},
		{"a fault has ended, less than a TTL ago", "asks set gets strike expires - lift - -", ""},
		{"a fault has ended, a TTL ago", "asks set gets strike expires - lift - - -", ClaimNotifies},
		{"something happens in between", "asks set gets expires - injection - -", ""},
		{"its clock was set", "asks set gets jumps expires - - -", ""},
		{"its clock was set when it was too late", "asks set gets expires - - - jumps", ClaimNotifies},

		{"lingering", "asks set gets leaves removed left - - - get get get get get", TrafficAfterRelease},
		{"too little", "asks set gets leaves removed left - - - get get get get", ""},
		{"about something else", "asks set gets leaves removed left - - - ping ping ping ping ping", ""},
		{"too early", "asks set gets leaves removed left get get get get get get", ""},
		{"it has asked again", "asks set gets leaves removed left - - - get get get get asks get", ""},
		{"something is wrong", "asks set gets leaves removed left strike - - get get get get get", ""},

		{"left", "asks set gets leaves left - expires", KeyLeftBehind},
		{"the node was asked", "asks set gets leaves del left - expires", ""},
		{"the node was asked later", "asks set gets leaves left del - expires", ""},
		{"the node was asked before", "asks set gets del leaves left - expires", KeyLeftBehind},
		{"release failed", "asks set gets leaves fails - expires", ReleaseFails},
		{"release has not returned", "asks set gets leaves - expires left", ""},
		{"the client did not wait", "asks set gets leaves cancels left - expires", ""},
		{"the key was removed", "asks set gets leaves left - removed", ""},
		{"a fault acted meanwhile", "asks set gets leaves left injection expires", ""},
		{"a fault acted before", "asks set gets injection leaves left - expires", KeyLeftBehind},
	} {
		var got Property
		for _, f := range Check(historyOf(c.words), nil).Findings {
			if f.Property.Card().Subject != SubjectMisconduct {
				continue
			}
			got += f.Property
			if len(f.Events) < 2 || f.Blame != BlameLock {
				t.Errorf("%s: it is shown by the events %v, and is the fault of %v", c.name, f.Events, f.Blame)
			}
		}
		if got != c.want {
			t.Errorf("%s (%s): got %q, want %q", c.name, c.words, got, c.want)
		}
	}
}
