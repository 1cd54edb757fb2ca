package simtest

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// A Script builds a trace by hand, for a test in which every event matters. The script's
// clock advances by a millisecond with each event.
type Script struct {
	trace.Trace
	now time.Duration
}

// NewScript begins a script with two clients, some nodes that keep the lock x, and a
// storage. fencing is the storage's policy, and nodes the number of nodes.
func NewScript(fencing string, nodes int) *Script {
	s := &Script{Trace: trace.Trace{
		Name: "by-hand", Seed: 1, Fencing: fencing,
		Processes: []trace.ProcessInfo{
			{Name: "client-1", Role: trace.RoleClient},
			{Name: "client-2", Role: trace.RoleClient},
		},
	}}
	lock := trace.LockInfo{Name: "x", Kind: "redlock", TTL: 30 * time.Second, Quorum: nodes/2 + 1}
	for i := range nodes {
		name := fmt.Sprintf("redis-%d", i+1)
		s.Processes = append(s.Processes, trace.ProcessInfo{Name: name, Role: trace.RoleNode})
		lock.Slots = append(lock.Slots, trace.SlotInfo{Node: name, Key: "x"})
	}
	s.Locks = []trace.LockInfo{lock}
	s.Processes = append(s.Processes, trace.ProcessInfo{Name: "storage", Role: trace.RoleStorage})
	for _, p := range s.Processes {
		s.At(0, trace.Event{Kind: trace.KindClock, Process: p.Name, Clocks: &trace.Clocks{}})
	}
	return s
}

// At adds an event at a true time, and sets the script's clock to that time.
func (s *Script) At(t time.Duration, ev trace.Event) *Script {
	ev.Seq, ev.At = len(s.Events)+1, t
	s.now = t
	s.Events = append(s.Events, ev)
	return s
}

// Then adds events, each a millisecond after the one before.
func (s *Script) Then(events ...trace.Event) *Script {
	for _, ev := range events {
		s.At(s.now+time.Millisecond, ev)
	}
	return s
}

// Nodes returns the names of the nodes that keep the lock.
func (s *Script) Nodes() []string {
	var nodes []string
	for _, slot := range s.Locks[0].Slots {
		nodes = append(nodes, slot.Node)
	}
	return nodes
}

// Acquires adds the events of an acquire that sets the key on the given nodes. The client
// gets a token, and a lease of 30 s that is counted from the beginning of the acquire.
func (s *Script) Acquires(client string, section int, token uint64, nodes ...string) *Script {
	s.Then(Begin(client, section, trace.Acquire, 0))
	ends := s.now + 30*time.Second
	actor := &trace.Actor{Client: client, Section: section}
	for _, n := range nodes {
		s.Then(trace.Event{Kind: trace.KindSet, Process: n, Key: "x", Value: fmt.Sprintf("value-%d", token), TTL: 30 * time.Second, Expires: s.now + time.Millisecond + 30*time.Second, Owner: actor, By: actor})
	}
	return s.Then(trace.Event{
		Kind: trace.KindEnd, Process: client, Section: section, Step: trace.Acquire, OK: true, Token: token, Rank: token,
		LeaseEnd: &fakeclock.Reading{Clock: fakeclock.Monotonic, Nanos: int64(ends)},
	})
}

// Reads adds the events of a read.
func (s *Script) Reads(client string, section, version int) *Script {
	return s.Then(
		Begin(client, section, trace.Read, 0),
		trace.Event{Kind: trace.KindServe, Process: "storage", Peer: client, Section: section, Step: trace.Read, OK: true, Object: "x", Version: version},
		trace.Event{Kind: trace.KindEnd, Process: client, Section: section, Step: trace.Read, OK: true, Object: "x", Version: version},
	)
}

// Writes adds the events of a write that the storage applies.
func (s *Script) Writes(client string, section, version int, token uint64) *Script {
	return s.Then(
		Begin(client, section, trace.Write, token),
		trace.Event{Kind: trace.KindServe, Process: "storage", Peer: client, Section: section, Step: trace.Write, OK: true, Object: "x", Version: version, Replaced: version - 1, Token: token},
		trace.Event{Kind: trace.KindEnd, Process: client, Section: section, Step: trace.Write, OK: true, Object: "x", Version: version},
	)
}

// Refused adds the events of a write that the storage refuses.
func (s *Script) Refused(client string, section int, token uint64, why string) *Script {
	return s.Then(
		Begin(client, section, trace.Write, token),
		trace.Event{Kind: trace.KindServe, Process: "storage", Peer: client, Section: section, Step: trace.Write, Object: "x", Token: token, Text: why},
		trace.Event{Kind: trace.KindEnd, Process: client, Section: section, Step: trace.Write, Refused: true, Text: why},
	)
}

// Releases adds the events of a release that removes the client's key from the given nodes.
func (s *Script) Releases(client string, section int, nodes ...string) *Script {
	s.Then(Begin(client, section, trace.Release, 0))
	actor := &trace.Actor{Client: client, Section: section}
	for _, n := range nodes {
		s.Then(trace.Event{Kind: trace.KindDelete, Process: n, Key: "x", By: actor, Owner: actor})
	}
	return s.Then(trace.Event{Kind: trace.KindEnd, Process: client, Section: section, Step: trace.Release, OK: true})
}

// Begin returns the event with which a client begins a step. A read or write is of the
// object x.
func Begin(client string, section int, step trace.Step, token uint64) trace.Event {
	ev := trace.Event{Kind: trace.KindBegin, Process: client, Section: section, Step: step, Token: token}
	if step == trace.Read || step == trace.Write {
		ev.Object = "x"
	}
	return ev
}

// PausedHolderTrace returns the trace of a run in which a client is paused past the end of
// its lease and then writes. The storage applies that write if fencing is "none", and
// otherwise refuses it.
func PausedHolderTrace(fencing string) *trace.Trace {
	s := NewScript(fencing, 3)
	s.Faults = []trace.FaultInfo{{Text: "pause client-1", Assumption: "process"}}
	s.Acquires("client-1", 1, 1, s.Nodes()...)
	s.Reads("client-1", 1, 0)
	s.Then(
		trace.Event{Kind: trace.KindStrike, Fault: 1, Text: "pause client-1"},
		trace.Event{Kind: trace.KindPause, Process: "client-1", Text: "stop"},
	)
	for i, n := range s.Nodes() {
		s.At(30*time.Second+time.Duration(i+2)*time.Millisecond, trace.Event{
			Kind: trace.KindExpire, Process: n, Key: "x", Owner: &trace.Actor{Client: "client-1", Section: 1},
		})
	}
	s.Acquires("client-2", 1, 2, s.Nodes()...)
	s.Reads("client-2", 1, 0)
	s.Writes("client-2", 1, 1, 2)
	s.Releases("client-2", 1, s.Nodes()...)
	s.Then(
		trace.Event{Kind: trace.KindLift, Fault: 1, Text: "pause client-1"},
		trace.Event{Kind: trace.KindResume, Process: "client-1"},
	)
	if fencing == "none" {
		s.Writes("client-1", 1, 2, 1)
	} else {
		s.Refused("client-1", 1, 1, "token 1 is older than token 2, which the storage has already seen")
	}
	s.Releases("client-1", 1)
	return &s.Trace
}
