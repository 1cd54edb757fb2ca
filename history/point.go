package history

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/trace"
)

// A Recogniser recognises when a point, such as "client-1 acquired", is reached in one run.
// It must see all events of the run, in order.
type Recogniser struct{ alternatives []func(*trace.Event) bool }

// Recognise returns a recogniser of a point. It uses only what the trace contains before the run
// starts: the locks. It ignores a delay ("5s after …"), so it recognises the point when the delay
// begins.
func Recognise(p trace.Point, t *trace.Trace) *Recogniser {
	r := &Recogniser{}
	for _, c := range p.Alternatives() {
		r.alternatives = append(r.alternatives, recognise(c, t))
	}
	return r
}

// See processes the next event and reports whether the point has just been reached.
func (r *Recogniser) See(ev *trace.Event) bool {
	reached := false
	for _, see := range r.alternatives {
		reached = see(ev) || reached // every alternative must see every event
	}
	return reached
}

// Occurrences returns the events with which a point is reached, in order. Like [Recognise],
// it ignores a delay.
func (h *History) Occurrences(p trace.Point) []*trace.Event {
	var all []*trace.Event
	r := Recognise(p, h.Trace)
	for i := range h.Trace.Events {
		if ev := &h.Trace.Events[i]; r.See(ev) {
			all = append(all, ev)
		}
	}
	return all
}

// recognise returns a function that recognises one alternative of a point; see recogniseHappening.
// If the alternative contains a number, as in "client-1 acquired, 2nd time", the function
// recognises only that occurrence.
func recognise(c trace.Alternative, t *trace.Trace) func(*trace.Event) bool {
	occurs := recogniseHappening(c.Happening, t)
	if c.Nth == 0 {
		return occurs
	}
	times := 0
	return func(ev *trace.Event) bool {
		if !occurs(ev) {
			return false
		}
		times++
		return times == c.Nth
	}
}

// recogniseHappening returns a function that must be called with every event of a run, in
// order, and reports whether the happening occurs with it.
func recogniseHappening(happening trace.Happening, t *trace.Trace) func(*trace.Event) bool {
	switch h := happening.(type) {
	case trace.Start:
		return func(ev *trace.Event) bool { return ev.Seq == 1 }
	case trace.Action:
		matchesVerb := verbPredicates[h.Verb]
		return func(ev *trace.Event) bool { return ev.Process == h.Process && matchesVerb(ev) }
	case trace.HoldsNode:
		return func(ev *trace.Event) bool {
			return ev.Kind == trace.KindSet && ev.Process == h.Node && owns(h.Client, ev)
		}
	case trace.KeyExpired:
		return func(ev *trace.Event) bool {
			return ev.Kind == trace.KindExpire && ev.Process == h.Node && owns(h.Client, ev)
		}
	case trace.KeysExpired:
		return recogniseKeysExpired(h.Client)
	case trace.SessionExpired:
		return func(ev *trace.Event) bool { return ev.Kind == trace.KindExpireSession && ev.Peer == h.Client }
	case trace.ClockJumped:
		return func(ev *trace.Event) bool {
			return ev.Kind == trace.KindClock && ev.Process == h.Process && ev.Clocks.Why == trace.Jumped
		}
	case trace.RequestServed:
		matchesAnswer := answerPredicates[h.Answer]
		return func(ev *trace.Event) bool { return matchesAnswer(ev) && ev.Step == h.Step && ev.Client() == h.Client }
	case trace.Transit:
		kind := trace.KindSend
		if h.Arrived {
			kind = trace.KindDeliver
		}
		if h.Peer == "" {
			return recogniseEveryTransit(h, t)
		}
		return func(ev *trace.Event) bool { return ev.Kind == kind && h.Selects(ev) }
	case trace.StepEnded:
		return func(ev *trace.Event) bool {
			return ev.Kind == trace.KindEnd && ev.Process == h.Client && ev.Step == h.Step
		}
	}
	panic(fmt.Sprintf("history: nobody knows how to recognise a %T", happening))
}

// owns reports whether the key that an event is about was set by this client.
func owns(client string, ev *trace.Event) bool { return ev.Owner != nil && ev.Owner.Client == client }

// verbPredicates report, for each verb, whether an event matches it.
var verbPredicates = map[trace.Verb]func(*trace.Event) bool{
	trace.Asked:       func(ev *trace.Event) bool { return ev.Kind == trace.KindBegin && ev.Step == trace.Acquire },
	trace.Acquired:    endedStep(trace.Acquire),
	trace.NotAcquired: func(ev *trace.Event) bool { return ev.Kind == trace.KindEnd && ev.Step == trace.Acquire && !ev.OK },
	trace.Minted:      endedStep(trace.Mint),
	trace.Marked:      endedStep(trace.Mark),
	trace.HasRead:     endedStep(trace.Read),
	trace.Worked:      endedStep(trace.Work),
	trace.Checked:     endedStep(trace.Check),
	trace.Wrote:       endedStep(trace.Write),
	trace.Extended:    endedStep(trace.Extend),
	trace.Released:    func(ev *trace.Event) bool { return ev.Kind == trace.KindEnd && ev.Step == trace.Release },
	trace.Cancelled:   isKind(trace.KindCancel),
	trace.WasRefused:  func(ev *trace.Event) bool { return ev.Kind == trace.KindEnd && ev.Refused },
	trace.GaveUp: func(ev *trace.Event) bool {
		return ev.Kind == trace.KindEnd && ev.Step.AtStorage() && !ev.OK && !ev.Refused
	},
	trace.Finished:     isKind(trace.KindDone),
	trace.Paused:       isKind(trace.KindPause),
	trace.Resumed:      isKind(trace.KindResume),
	trace.Crashed:      isKind(trace.KindCrash),
	trace.Restarted:    isKind(trace.KindRestart),
	trace.Synced:       isKind(trace.KindSync),
	trace.WasPromoted:  isKind(trace.KindPromote),
	trace.BecameLeader: isKind(trace.KindLead),
	trace.Compacted:    isKind(trace.KindCompact),
	trace.WasNotified:  isKind(trace.KindNotify),
}

// endedStep matches the event with which a step succeeded.
func endedStep(s trace.Step) func(*trace.Event) bool {
	return func(ev *trace.Event) bool { return ev.Kind == trace.KindEnd && ev.Step == s && ev.OK }
}

func isKind(k trace.Kind) func(*trace.Event) bool {
	return func(ev *trace.Event) bool { return ev.Kind == k }
}

// answerPredicates report, for each answer of the storage, whether an event matches it.
var answerPredicates = map[trace.Answer]func(*trace.Event) bool{
	trace.Applied:      func(ev *trace.Event) bool { return ev.Kind == trace.KindServe && ev.OK },
	trace.Refused:      func(ev *trace.Event) bool { return ev.Kind == trace.KindServe && !ev.OK },
	trace.TokenChecked: func(ev *trace.Event) bool { return ev.Kind == trace.KindCheck && ev.OK },
}

// recogniseKeysExpired returns a function that recognises when the last visible key of a
// client expires. Keys on a node that is down are not visible. Keys that never expire, such
// as a counter of tokens, do not count.
func recogniseKeysExpired(client string) func(*trace.Event) bool {
	k := NewKeys()
	isClientKey := func(h *Holding) bool { return h != nil && h.Owner.Client == client && h.Due != Forever }
	return func(ev *trace.Event) bool {
		expired := false
		for _, c := range k.See(ev) {
			expired = expired || c.Event.Kind == trace.KindExpire && isClientKey(c.Before)
		}
		return expired && !slices.ContainsFunc(k.Places(), func(p Place) bool { return k.IsVisible(p) && isClientKey(k.At(p)) })
	}
}

// recogniseEveryTransit returns a function that recognises when a client has a request in flight to
// every node of the run's locks at once. If h selects replies, they are replies from every node. If
// h.Arrived is set, the function recognises when all these messages have arrived. The messages must
// belong to one critical section. With a cluster, a message to or from one member is enough,
// because a client asks the cluster through one member.
func recogniseEveryTransit(h trace.Transit, t *trace.Trace) func(*trace.Event) bool {
	nodes, members := map[string]bool{}, map[string]bool{}
	for _, l := range t.Locks {
		for _, m := range l.Members {
			members[m] = true
		}
		for _, s := range l.Slots {
			nodes[s.Node] = true
		}
	}
	// By node: whether its latest message is in flight or, if h.Arrived is set, has arrived.
	inTransit := map[string]bool{}
	section := -1
	return func(ev *trace.Event) bool {
		if ev.Kind != trace.KindSend && ev.Kind != trace.KindDeliver || !h.Selects(ev) {
			return false
		}
		if members[ev.Process] || members[ev.Peer] {
			return (ev.Kind == trace.KindDeliver) == h.Arrived
		}
		if ev.Section != section {
			section = ev.Section
			clear(inTransit)
		}
		node := ev.Process
		if !nodes[node] {
			node = ev.Peer
		}
		if !nodes[node] {
			return false
		}
		if inTransit[node] = (ev.Kind == trace.KindDeliver) == h.Arrived; !inTransit[node] {
			return false
		}
		for n := range nodes {
			if !inTransit[n] {
				return false
			}
		}
		return true
	}
}
