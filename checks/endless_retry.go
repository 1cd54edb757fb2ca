package checks

import (
	"time"

	"github.com/locksim/locksim/trace"
)

// EndlessRetry is violated by a call of the lock that sends more than 150 commands and never
// waits for as long as 5 ms between two of them: no lock has so many nodes that it needs as many
// for one attempt. It is violated, too, by code that asks so much that the run had to be ended.
const EndlessRetry Property = trace.ConductEndless

const (
	inOneGo = 150
	breath  = 5 * time.Millisecond
)

var noEndlessRetry = misconduct(Card{
	Property: EndlessRetry, Gravity: 15,
	Title:  "the lock pauses between its attempts",
	Broken: "the lock asks without a pause",
	Word:   "endless retry", Means: "a call of the lock asks again and again, without a pause or without an end",
}, (*inquiry).breathless)

// breathless is a call that retries without a pause, on one node or on several in turn.
func (h *inquiry) breathless() (Reason, []int) {
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
	for _, m := range h.Messages() {
		if inCall(m.Sent) {
			all++
		}
	}
	if all <= inOneGo { // as in nearly every world, whose calls need not be told apart then
		return Reason{}, nil
	}
	runs := map[call]run{}
	for _, m := range h.Messages() {
		ev := m.Sent
		if !inCall(ev) {
			continue
		}
		c := call{ev.Process, ev.Section, ev.Step}
		r := runs[c]
		if r.sent == 0 || ev.At-r.last.At > breath {
			r = run{first: ev}
		}
		r.last = ev
		r.sent++
		runs[c] = r
		if r.sent > inOneGo {
			return askedWithoutPause.Reason(c.step, c.client, r.sent, ev.At-r.first.At, breath), []int{r.first.Seq, ev.Seq}
		}
	}
	return Reason{}, nil
}
