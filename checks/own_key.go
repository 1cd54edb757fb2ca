package checks

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// OwnKeyInTheWay is violated by an acquire that mistakes its own key for another client's. The key
// existed, and its node answered a further request of the same acquire. Then the acquire failed, or
// kept asking until the key expired, although no fault acted. A lock that sends SET NX again must
// not treat a nil reply to the second request as a refusal.
const OwnKeyInTheWay Property = "own key in the way"

var ownKeyKnown = misconduct(Card{
	Property: OwnKeyInTheWay, Gravity: 25,
	Title:  "the lock recognizes its own key",
	Broken: "the lock mistakes its own key for another client's key",
	Label:  "own key in the way", Meaning: "an acquire mistakes the key that it has set itself for another client's key",
}, (*judgedRun).findOwnKeyInTheWay)

// findOwnKeyInTheWay finds an acquire that mistakes its own key for another client's; see
// [OwnKeyInTheWay].
func (h *judgedRun) findOwnKeyInTheWay() (Reason, []int) {
	for _, c := range h.Calls() {
		if c.Step != trace.Acquire || c.Began == nil {
			continue
		}
		for _, k := range h.HoldingsOf(c.Acquisition) {
			if k.How != history.Expired || k.By == nil || !h.isNeeded(k.Place) || k.Due < dueBy(k.Set) {
				continue // a key that was given a short expiry is in nobody's way
			}
			until, howItEnded := k.Ended.Seq, wasStillCalled.Reason()
			switch {
			case c.Ended != nil && c.Ended.Seq < until && (c.OK() || h.wasGrantedLater(c, k)):
				continue
			case c.Ended != nil && c.Ended.Seq < until:
				until, howItEnded = c.Ended.Seq, andFailed.Reason(c.Ended.At)
			}
			if answer := h.secondAnswer(c, k, until); answer != nil && h.quietFor(k.Ended) >= k.Ended.At-answer.At {
				return ownKeyInTheWay.Reason(c.Client, k.Node, k.From.At, answer.At, howItEnded, k.Ended.At), []int{k.Set.Seq, answer.Seq, k.Ended.Seq}
			}
		}
	}
	return Reason{}, nil
}

// isNeeded reports whether a place (a key on a node) is one in which a lock keeps its grants, and
// the lock cannot do without it. A lock that needs only a quorum of its nodes can do without a few
// keys.
func (h *judgedRun) isNeeded(place history.Place) bool {
	lock, isSlot := h.LockAt(place)
	isOtherNode := func(s trace.SlotInfo) bool { return s.Node != place.Node }
	return isSlot && (lock.Quorum == len(lock.Slots) || !slices.ContainsFunc(lock.Slots, isOtherNode))
}

// secondAnswer returns the arrival of a reply from a key's node to another request of the acquire
// than the one that set the key. The reply was sent after the key was set, and arrived before the
// event whose Seq is until. It returns nil if there is none.
func (h *judgedRun) secondAnswer(c *history.Call, k *history.Holding, until int) *trace.Event {
	asked := map[int]*trace.Event{} // the last request on each connection
	for _, m := range h.Messages() {
		switch sent := m.Sent; {
		case sent.Seq > until:
			return nil
		case m.From == c.Client && m.To == k.Node && m.Mentions(k.Key) && sent.Seq > c.Began.Seq:
			asked[sent.Conn] = sent
		case m.From == k.Node && m.To == c.Client && sent.Reply && sent.Seq > k.Set.Seq && m.Arrived != nil && m.Arrived.Seq < until:
			if request := asked[sent.Conn]; request != nil && request.Seq != k.By.Sent {
				return m.Arrived
			}
		}
	}
	return nil
}

// wasGrantedLater reports whether the client was granted the lock between the failure of a
// call and the end of a key. Then it may have recognised the key as its own after all.
func (h *judgedRun) wasGrantedLater(c *history.Call, k *history.Holding) bool {
	for _, section := range h.Sections() {
		if section.Client == c.Client && section.Granted.Seq > c.Ended.Seq && section.Granted.Seq < k.Ended.Seq {
			return true
		}
	}
	return false
}
