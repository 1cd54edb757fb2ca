package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// renewsUndeclared reports that a lock prolonged the keys of a section by itself, in time
// and with an answer, and declared no new end of the lease. What it declared at the grant is
// not its last word then.
func (r *reading) renewsUndeclared(s *Section) bool {
	declares := func(d Declaration) bool {
		return d.Event.Step == trace.Extend && d.Event.Kind == trace.KindEnd && r.called().by[d.Event.Seq].Began == nil
	}
	if slices.ContainsFunc(s.Lease.Ends, declares) {
		return false
	}
	slots := r.Slots(s.Lock)
	for _, k := range r.HoldingsOf(s.Acquisition) {
		if !slots.Has(k.Place) {
			continue
		}
		for _, touch := range k.Touches {
			answer := r.answerTo(touch)
			if answer == nil || touch.By.Client != s.Client { // a second handle may have begun another acquisition
				continue
			}
			if heard := MomentOf(answer); heard.Before(s.Lease.Until(answer.Seq)) {
				return true
			}
		}
	}
	return false
}

// renewal is the request since which a lock counts an end that it declares by itself, with the
// event ev: the first since the declaration before it that prolonged a key of the section. It
// is nil if there is none.
func (r *reading) renewal(s *Section, ev *trace.Event) *trace.Event {
	first, before := 0, s.Lease.Latest(ev.Seq)
	slots := r.Slots(s.Lock)
	for _, k := range r.HoldingsOf(s.Acquisition) {
		for _, touch := range k.Touches {
			if !slots.Has(k.Place) || touch.Seq > ev.Seq || touch.By == nil || touch.By.Client != s.Client {
				continue
			}
			if sent := touch.By.Sent; sent > before.Event.Seq && (first == 0 || sent < first) {
				first = sent
			}
		}
	}
	if first == 0 {
		return nil
	}
	return r.Event(first)
}

// answerTo is the arrival of the answer to a command that its client sent in no call of the
// lock, and with which a node prolonged a key; nil if there is none.
func (r *reading) answerTo(touch *trace.Event) *trace.Event {
	if touch.By == nil || touch.By.Sent == 0 {
		return nil
	}
	sent := r.Event(touch.By.Sent)
	if sent == nil || sent.Kind != trace.KindSend || sent.Step.AtLock() {
		return nil
	}
	for _, m := range r.Messages() {
		if m.Sent.Reply && m.Sent.Seq > touch.Seq && m.From == sent.Peer && m.To == sent.Process && m.Sent.Conn == sent.Conn {
			return m.Arrived
		}
	}
	return nil
}
