package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// renewsUndeclared reports whether a lock renewed the keys of a critical section by itself and
// declared no new end of the lease. The client must have received the answer to a renewal before
// the lease ended. Then the end that the lock declared with the grant no longer counts.
func (r *reading) renewsUndeclared(s *Section) bool {
	declares := func(d Declaration) bool {
		return d.Event.Step == trace.Extend && d.Event.Kind == trace.KindEnd && r.callChapter().bySeq[d.Event.Seq].Began == nil
	}
	if slices.ContainsFunc(s.Lease.Declarations, declares) {
		return false
	}
	slots := r.Slots(s.Lock)
	for _, k := range r.HoldingsOf(s.Acquisition) {
		if !slots.Contains(k.Place) {
			continue
		}
		for _, touch := range k.Touches {
			answer := r.replyArrival(touch)
			if answer == nil || touch.By.Client != s.Client { // a second handle may have begun another acquisition
				continue
			}
			if answeredAt := MomentOf(answer); answeredAt.Before(s.Lease.Until(answer.Seq)) {
				return true
			}
		}
	}
	return false
}

// renewalRequest returns the request from which the time of a renewal counts. The lock made the
// renewal by itself, and declared it with the event ev. The result is the first request since the
// previous declaration that renewed a key of the section; nil if there is none.
func (r *reading) renewalRequest(s *Section, ev *trace.Event) *trace.Event {
	firstSent, previous := 0, s.Lease.Latest(ev.Seq)
	slots := r.Slots(s.Lock)
	for _, k := range r.HoldingsOf(s.Acquisition) {
		for _, touch := range k.Touches {
			if !slots.Contains(k.Place) || touch.Seq > ev.Seq || touch.By == nil || touch.By.Client != s.Client {
				continue
			}
			if sent := touch.By.Sent; sent > previous.Event.Seq && (firstSent == 0 || sent < firstSent) {
				firstSent = sent
			}
		}
	}
	if firstSent == 0 {
		return nil
	}
	return r.Event(firstSent)
}

// replyArrival returns the arrival of the reply to the command with which a key was
// renewed. It returns nil if there is none, or if the client sent the command in a call of
// the lock.
func (r *reading) replyArrival(touch *trace.Event) *trace.Event {
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
