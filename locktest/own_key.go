package locktest

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
	voice "github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// ruleOwnKey is that a lock takes its own key for another client's.
const ruleOwnKey = "own key in the way"

// ownKey: an acquire to which its own key is in the way. The key stood, its node answered one
// more request of the same acquire, and acquire failed or went on asking until the key expired,
// while nothing was wrong. A lock that sends a SET NX again must not take the nil of the second
// for a refusal.
func ownKey(_ *subject, _ world, h *history.History) (rule, why string, at []int) {
	for _, c := range h.Calls() {
		if c.Step != trace.Acquire || c.Began == nil {
			continue
		}
		for _, k := range h.HoldingsOf(c.Acquisition) {
			if k.How != history.Expired || k.By == nil || !isNeeded(h, k.Place) {
				continue
			}
			until, then := k.Ended.Seq, "and was still being called"
			switch {
			case c.Ended != nil && c.Ended.Seq < until && (c.OK() || laterGranted(h, c, k)):
				continue
			case c.Ended != nil && c.Ended.Seq < until:
				until, then = c.Ended.Seq, "and failed at "+voice.Time(c.Ended.At)
			}
			if answer := answeredAgain(h, c, k, until); answer != nil && calm(h, k.Ended) >= k.Ended.At-answer.At {
				return ruleOwnKey, fmt.Sprintf("acquire of %s set its key on %s at %s, was answered once more by the node at %s, %s; its own key was in everybody's way until it expired at %s",
						c.Client, k.Node, voice.Time(k.From.At), voice.Time(answer.At), then, voice.Time(k.Ended.At)),
					[]int{k.Set.Seq, answer.Seq, k.Ended.Seq}
			}
		}
	}
	return "", "", nil
}

// isNeeded says that a place is a slot of a lock that can do without none of its nodes. One that
// asks a quorum of nodes can do without a few keys.
func isNeeded(h *history.History, place history.Place) bool {
	lock, kept := h.LockAt(place)
	elsewhere := func(s trace.SlotInfo) bool { return s.Node != place.Node }
	return kept && (lock.Quorum == len(lock.Slots) || !slices.ContainsFunc(lock.Slots, elsewhere))
}

// answeredAgain is the arrival of an answer of a key's node to a request of acquire other than
// the one that set the key, after it was set and before the event until; nil if there is none.
func answeredAgain(h *history.History, c *history.Call, k *history.Holding, until int) *trace.Event {
	asked := map[int]*trace.Event{} // the last request on each connection
	for _, m := range h.Messages() {
		switch sent := m.Sent; {
		case sent.Seq > until:
			return nil
		case m.From == c.Client && m.To == k.Node && m.About(k.Key) && sent.Seq > c.Began.Seq:
			asked[sent.Conn] = sent
		case m.From == k.Node && m.To == c.Client && sent.Reply && sent.Seq > k.Set.Seq && m.Arrived != nil && m.Arrived.Seq < until:
			if request := asked[sent.Conn]; request != nil && request.Seq != k.By.Sent {
				return m.Arrived
			}
		}
	}
	return nil
}

// laterGranted says whether the client was granted the lock between the failure of a call and
// the end of a key: then it can have taken the key for its own after all.
func laterGranted(h *history.History, c *history.Call, k *history.Holding) bool {
	for _, in := range h.Sections() {
		if in.Client == c.Client && in.Granted.Seq > c.Ended.Seq && in.Granted.Seq < k.Ended.Seq {
			return true
		}
	}
	return false
}
