package checks

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// trafficAfterRelease is violated by a lock that still sends commands for a lease that has ended.
// Five commands are a violation if they are about a lock that its client released more than a TTL
// ago and has not asked for since. In that time no fault may have acted.
const trafficAfterRelease Property = "traffic after release"

var noTrafficAfterRelease = misconduct(Card{
	Property: trafficAfterRelease, Gravity: 23,
	Title:  "the lock sends no commands about a lease that was released long ago",
	Broken: "the lock still sends commands about a released lease",
	Label:  "traffic after release", Meaning: "the lock still sends commands about a lease that was released long ago",
}, (*judgedRun).findLateCommands)

// tooManyLateCommands is how many commands about a released lease are a violation.
const tooManyLateCommands = 5

// A clientState says what a client does at some moment: it is in critical sections, it asks for a
// lock, or it is idle because it has released all locks.
type clientState struct {
	// calls are the calls of acquire and release that are still to come, in order.
	calls []*history.Call
	// inside are the numbers of the sections that the client is in. idleSince is the end of the
	// release since which the client has been in no section and has not asked for a lock. It is nil
	// while the client is in a section or asks for a lock.
	inside    map[int]bool
	idleSince *trace.Event
	// sent counts the commands that the client's lock has sent, since idleSince, about what
	// was released.
	sent int
}

// clientStates returns the states of the clients at the beginning of a run.
func clientStates(h *judgedRun) map[string]*clientState {
	all := map[string]*clientState{}
	for _, c := range h.Calls() {
		if all[c.Client] == nil {
			all[c.Client] = &clientState{inside: map[int]bool{}}
		}
		if c.Began != nil && (c.Step == trace.Acquire || c.Step == trace.Release) {
			v := all[c.Client]
			v.calls = append(v.calls, c)
		}
	}
	return all
}

// advance updates the client's state to the event ev, which belongs to no call.
func (v *clientState) advance(ev *trace.Event) {
	for len(v.calls) > 0 && v.calls[0].Began.Seq < ev.Seq {
		c := v.calls[0]
		v.calls = v.calls[1:]
		switch {
		case c.Step == trace.Acquire:
			v.idleSince, v.sent = nil, 0
			if c.OK() {
				v.inside[c.Section] = true
			}
		case c.Ended != nil:
			delete(v.inside, c.Section)
			if len(v.inside) == 0 {
				v.idleSince = c.Ended
			}
		}
	}
}

// findLateCommands finds commands about a lock that its client released more than a TTL ago
// and has not asked for since.
func (h *judgedRun) findLateCommands() (Reason, []int) {
	clients := clientStates(h)
	for m := range h.Sends() {
		v := clients[m.From]
		if v == nil || m.Sent.Reply || m.Sent.Step != "" {
			continue
		}
		v.advance(m.Sent)
		if v.idleSince == nil {
			continue
		}
		for _, lock := range h.Trace.Locks {
			about := func(s trace.SlotInfo) bool { return s.Node == m.To && m.Mentions(s.Key) }
			if lock.TTL > 0 && min(h.quietFor(m.Sent), m.Sent.At-v.idleSince.At) > lock.TTL && slices.ContainsFunc(lock.Slots, about) {
				v.sent++
			}
		}
		if v.sent == tooManyLateCommands {
			return stillSent.Reason(m.From, v.idleSince.At, m.Sent.At, m.Sent.Text), []int{v.idleSince.Seq, m.Sent.Seq}
		}
	}
	return Reason{}, nil
}
