package reports

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// script writes traces by hand. Its clock moves on by a millisecond with each
// event.
type script struct {
	trace.Trace
	now time.Duration
}

func newScript(fencing string, nodes int) *script {
	s := &script{Trace: trace.Trace{
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
		s.at(0, trace.Event{Kind: trace.KindClock, Process: p.Name, Clocks: &trace.Clocks{}})
	}
	return s
}

// at adds an event at a true time.
func (s *script) at(t time.Duration, ev trace.Event) *script {
	ev.Seq, ev.At = len(s.Events)+1, t
	s.now = t
	s.Events = append(s.Events, ev)
	return s
}

// then adds events, each a millisecond after what came before.
func (s *script) then(events ...trace.Event) *script {
	for _, ev := range events {
		s.at(s.now+time.Millisecond, ev)
	}
	return s
}

func (s *script) nodes() []string {
	var nodes []string
	for _, slot := range s.Locks[0].Slots {
		nodes = append(nodes, slot.Node)
	}
	return nodes
}

// acquires is a whole acquire on the given nodes, which brings a token and a
// lease of 30 s from its beginning.
func (s *script) acquires(client string, section int, token uint64, nodes ...string) *script {
	s.then(begin(client, section, trace.Acquire, 0))
	ends := s.now + 30*time.Second
	actor := &trace.Actor{Client: client, Section: section}
	for _, n := range nodes {
		s.then(trace.Event{Kind: trace.KindSet, Process: n, Key: "x", Value: fmt.Sprintf("value-%d", token), TTL: 30 * time.Second, Expires: s.now + time.Millisecond + 30*time.Second, Owner: actor, By: actor})
	}
	return s.then(trace.Event{
		Kind: trace.KindEnd, Process: client, Section: section, Step: trace.Acquire, OK: true, Token: token, Rank: token,
		Ends: &fakeclock.Reading{Clock: fakeclock.Monotonic, Nanos: int64(ends)},
	})
}

// reads is a whole read.
func (s *script) reads(client string, section, version int) *script {
	return s.then(
		begin(client, section, trace.Read, 0),
		trace.Event{Kind: trace.KindServe, Process: "storage", Peer: client, Section: section, Step: trace.Read, OK: true, Object: "x", Version: version},
		trace.Event{Kind: trace.KindEnd, Process: client, Section: section, Step: trace.Read, OK: true, Object: "x", Version: version},
	)
}

// writes is a whole write that is applied.
func (s *script) writes(client string, section, version int, token uint64) *script {
	return s.then(
		begin(client, section, trace.Write, token),
		trace.Event{Kind: trace.KindServe, Process: "storage", Peer: client, Section: section, Step: trace.Write, OK: true, Object: "x", Version: version, Replaced: version - 1, Token: token},
		trace.Event{Kind: trace.KindEnd, Process: client, Section: section, Step: trace.Write, OK: true, Object: "x", Version: version},
	)
}

// refused is a whole write that the storage refuses.
func (s *script) refused(client string, section int, token uint64, why string) *script {
	return s.then(
		begin(client, section, trace.Write, token),
		trace.Event{Kind: trace.KindServe, Process: "storage", Peer: client, Section: section, Step: trace.Write, Object: "x", Token: token, Text: why},
		trace.Event{Kind: trace.KindEnd, Process: client, Section: section, Step: trace.Write, Refused: true, Text: why},
	)
}

// releases is a whole release that finds the client's key on the given nodes.
func (s *script) releases(client string, section int, nodes ...string) *script {
	s.then(begin(client, section, trace.Release, 0))
	actor := &trace.Actor{Client: client, Section: section}
	for _, n := range nodes {
		s.then(trace.Event{Kind: trace.KindDelete, Process: n, Key: "x", By: actor, Owner: actor})
	}
	return s.then(trace.Event{Kind: trace.KindEnd, Process: client, Section: section, Step: trace.Release, OK: true})
}

func begin(client string, section int, step trace.Step, token uint64) trace.Event {
	ev := trace.Event{Kind: trace.KindBegin, Process: client, Section: section, Step: step, Token: token}
	if step == trace.Read || step == trace.Write {
		ev.Object = "x"
	}
	return ev
}

// overslept is a client that is paused past the end of its lock, on a storage
// that fences or does not.
func overslept(fencing string) *trace.Trace {
	s := newScript(fencing, 3)
	s.Faults = []trace.FaultInfo{{Text: "pause client-1", Assumption: "process"}}
	s.acquires("client-1", 1, 1, s.nodes()...)
	s.reads("client-1", 1, 0)
	s.then(
		trace.Event{Kind: trace.KindStrike, Fault: 1, Text: "pause client-1"},
		trace.Event{Kind: trace.KindPause, Process: "client-1", Text: "stop"},
	)
	for i, n := range s.nodes() {
		s.at(30*time.Second+time.Duration(i+2)*time.Millisecond, trace.Event{
			Kind: trace.KindExpire, Process: n, Key: "x", Owner: &trace.Actor{Client: "client-1", Section: 1},
		})
	}
	s.acquires("client-2", 1, 2, s.nodes()...)
	s.reads("client-2", 1, 0)
	s.writes("client-2", 1, 1, 2)
	s.releases("client-2", 1, s.nodes()...)
	s.then(
		trace.Event{Kind: trace.KindLift, Fault: 1, Text: "pause client-1"},
		trace.Event{Kind: trace.KindResume, Process: "client-1"},
	)
	if fencing == "none" {
		s.writes("client-1", 1, 2, 1)
	} else {
		s.refused("client-1", 1, 1, "token 1 is older than token 2, which the storage has already seen")
	}
	s.releases("client-1", 1)
	return &s.Trace
}
