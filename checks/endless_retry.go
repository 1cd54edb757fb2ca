package checks

import (
	"slices"
	"time"

	"github.com/locksim/locksim/trace"
)

// EndlessRetry is violated by a call of the lock that sends more than 150 commands, each at most 5
// ms after the one before. No lock has so many nodes that one attempt needs as many commands. It is
// also violated by a call that sends so much that the run had to be ended. If a client's program
// calls acquire again and again, that is not the lock's doing.
const EndlessRetry Property = trace.ConductEndless

const (
	// maxCommands is how many commands a call may send without a pause of at least minPause
	// between two of them.
	maxCommands = 150
	minPause    = 5 * time.Millisecond
)

var noEndlessRetry = misconduct(Card{
	Property: EndlessRetry, Gravity: 15,
	Title:  "the lock pauses between its attempts",
	Broken: "the lock retries without a pause",
	Label:  "endless retry", Meaning: "a call of the lock retries without a pause or without an end",
}, (*judgedRun).findEndlessRetry)

// manyCalls is how many calls of the lock the clients' programs must have made before they count as
// the cause of too much traffic. With fewer calls, the lock is the cause.
const manyCalls = 1000

// isEndedByProgram reports whether a run had to be ended because the clients' programs caused too
// much traffic. The programs are the cause if they called the lock very often, and if neither a
// single call nor the traffic of one client outside its calls has more than a tenth of the
// requests.
func (h *judgedRun) isEndedByProgram() bool {
	if e := h.Trace.Ending; e == nil || Property(e.Rule) != EndlessRetry {
		return false
	}
	began := map[trace.Actor][]int{} // for each section and client, when its calls of the lock began
	calls := 0
	for _, c := range h.Calls() {
		if c.Began != nil && c.Step.AtLock() {
			calls++
			section := trace.Actor{Client: c.Client, Section: c.Section}
			began[section] = append(began[section], c.Began.Seq)
		}
	}
	type source struct {
		trace.Actor
		call int
	}
	sent := map[source]int{}
	all, most := 0, 0
	for _, m := range h.Messages() {
		if m.Sent.Reply || !h.IsClient(m.From) || m.To == trace.StorageName {
			continue
		}
		from := source{Actor: trace.Actor{Client: m.From}}
		if m.Sent.Step != "" {
			from.Section = m.Sent.Section
			from.call, _ = slices.BinarySearch(began[from.Actor], m.Sent.Seq)
		}
		all++
		sent[from]++
		most = max(most, sent[from])
	}
	return calls >= manyCalls && 10*most <= all
}

// findEndlessRetry finds a call that retries without a pause, on one node or on several in
// turn.
func (h *judgedRun) findEndlessRetry() (Reason, []int) {
	type call struct {
		client  string
		section int
		step    trace.Step
	}
	type run struct {
		first, last *trace.Event
		sent        int
	}
	inCall := func(ev *trace.Event) bool {
		return !ev.Reply && !ev.Handshake && ev.Step != "" && ev.Peer != trace.StorageName
	}
	all := 0
	for m := range h.Sends() {
		if inCall(m.Sent) {
			all++
		}
	}
	if all <= maxCommands { // in nearly every world all calls together send too few commands
		return Reason{}, nil
	}
	runs := map[call]run{}
	for m := range h.Sends() {
		ev := m.Sent
		if !inCall(ev) {
			continue
		}
		c := call{ev.Process, ev.Section, ev.Step}
		r := runs[c]
		if r.sent == 0 || ev.At-r.last.At > minPause {
			r = run{first: ev}
		}
		r.last = ev
		r.sent++
		runs[c] = r
		if r.sent > maxCommands {
			return askedWithoutPause.Reason(c.step, c.client, r.sent, ev.At-r.first.At, minPause), []int{r.first.Seq, ev.Seq}
		}
	}
	return Reason{}, nil
}
