package checks

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// KeyLeftBehind is violated by a key that exists on a node until it expires, because the lock never
// asks the node to remove it: after a successful release, or after an acquire that fails. Until the
// key expires, no client is granted the lock. The lock must have been able to ask the node. After a
// release this means that no fault acted until the key expired. After a failed acquire it means
// that the node could be reached all the time since the key was set. Keys do not count if acquire
// was called with a context that had already ended.
//
// A successful release that writes the key and does not remove it also violates the property, if
// a client then asked for the lock in vain although nobody held it.
const KeyLeftBehind Property = "key left behind"

var noKeyLeftBehind = misconduct(Card{
	Property: KeyLeftBehind, Gravity: 24,
	Title:  "the lock removes the keys that it has set",
	Broken: "the lock leaves a key behind, and never asks the node to remove it",
	Label:  "key left behind", Meaning: "a key stays until it expires, because the lock never asked its node to remove it",
}, func(h *judgedRun) (Reason, []int) {
	if reason, at := h.findLeftKey(); !reason.IsZero() {
		return reason, at
	}
	if reason, at := h.findRewrittenKey(); !reason.IsZero() {
		return reason, at
	}
	return h.findAbandonedKey()
})

// findLeftKey finds a key that existed on a node when release was called, and that later expired
// there. No fault acted, the release succeeded, and the node was never asked to remove the key.
func (h *judgedRun) findLeftKey() (reason Reason, at []int) {
	releases := map[history.Acquisition][]*history.Call{}
	for _, c := range h.Calls() {
		if c.Step == trace.Release && c.Began != nil {
			releases[c.Acquisition] = append(releases[c.Acquisition], c)
		}
	}
	var first *history.Holding
	for _, key := range h.Holdings() {
		asked := releases[key.Owner]
		_, isSlot := h.LockAt(key.Place)
		if key.How != history.Expired || len(asked) == 0 || first != nil && first.Ended.Seq < key.Ended.Seq || !isSlot {
			continue
		}
		began, ended := asked[0].Began, lastSuccess(asked, key.Ended)
		renewed := key.Ended.Owner != nil && key.Ended.Owner.Sent > began.Seq
		if ended == nil || renewed || h.quietFor(key.Ended) < key.Ended.At-began.At || h.wasNodeAsked(key, began) {
			continue
		}
		first = key
		reason = releasedWithoutAsking.Reason(key.Owner.Client, ended.At, key.Node, key.Ended.At)
		at = []int{began.Seq, ended.Seq, key.Ended.Seq}
	}
	return reason, at
}

// findRewrittenKey finds a key that a successful release wrote again, such as a counter that the
// release set to zero. The key kept every client out until it expired. A release may write a key
// that keeps nobody out; so a client must have asked in vain while nobody held the lock.
func (h *judgedRun) findRewrittenKey() (reason Reason, at []int) {
	for _, key := range h.Holdings() {
		if key.How != history.Expired || key.By == nil || !h.isNeeded(key.Place) {
			continue
		}
		lock, _ := h.LockAt(key.Place)
		for _, c := range h.Calls() {
			switch {
			case c.Acquisition != key.Owner || c.Step != trace.Release || !c.OK() || c.Began == nil || key.By.Sent < c.Began.Seq:
			case c.Ended.Seq < key.Set.Seq || key.Ended.Seq < c.Ended.Seq || h.isShorter(key) || h.quietFor(key.Ended) < key.Ended.At-c.Began.At:
			default:
				if refused := h.refusedWithoutHolder(lock.Name, c.Ended, key.Ended); refused != nil {
					return releasedByWriting.Reason(key.Owner.Client, c.Ended.At, key.Node, key.Ended.At), []int{c.Began.Seq, c.Ended.Seq, refused.Seq, key.Ended.Seq}
				}
			}
		}
	}
	return Reason{}, nil
}

// isShorter reports whether a key expires sooner than the key that it replaced. A lock that must be
// held for a minimum time sets such an expiry when it is released before that time has passed.
func (h *judgedRun) isShorter(key *history.Holding) bool {
	return slices.ContainsFunc(h.HoldingsOf(key.Owner), func(before *history.Holding) bool {
		return before.Place == key.Place && before.Ended == key.Set && key.Due < before.Due
	})
}

// refusedWithoutHolder returns the end of an acquire of a lock that began and failed between two
// events, while no client had the lock. An acquire whose context ended does not count. It returns
// nil if there is none, or if the lock was granted in that time.
func (h *judgedRun) refusedWithoutHolder(lock string, from, to *trace.Event) *trace.Event {
	for _, s := range h.Sections() {
		if s.Lock == lock && s.Granted != nil && s.Granted.Seq < to.Seq && (s.Released == nil || from.Seq < s.Released.Seq) {
			return nil
		}
	}
	for _, c := range h.Calls() {
		if c.Step == trace.Acquire && c.Lock == lock && c.Began != nil && !c.Began.ContextEnded && c.Cancelled == nil && c.Failed() && from.Seq < c.Began.Seq && c.Ended.Seq < to.Seq {
			return c.Ended
		}
	}
	return nil
}

// lastSuccess returns the end of the last of the calls that succeeded before an event. It returns
// nil if there is none, or if the client had cancelled one of the calls before.
func lastSuccess(calls []*history.Call, before *trace.Event) (ended *trace.Event) {
	for _, c := range calls {
		switch {
		case c.Cancelled != nil && c.Cancelled.Seq < before.Seq:
			return nil
		case c.OK() && c.Ended.Seq < before.Seq:
			ended = c.Ended
		}
	}
	return ended
}

// wasNodeAsked reports whether the client of a key sent the key's node anything after the beginning
// of a release, while the key existed. Messages that the client sends once it releases a later
// critical section do not count, because they are about that section.
func (h *judgedRun) wasNodeAsked(key *history.Holding, released *trace.Event) bool {
	until := history.Never.Seq
	if key.Ended != nil {
		until = key.Ended.Seq
	}
	for _, c := range h.Calls() {
		if c.Step == trace.Release && c.Began != nil && c.Client == key.Owner.Client && c.Section != key.Owner.Section && c.Began.Seq > released.Seq {
			until = min(until, c.Began.Seq)
		}
	}
	return slices.ContainsFunc(h.Messages(), func(m *history.Message) bool {
		return m.From == key.Owner.Client && m.To == key.Node && !m.Sent.Reply && m.Sent.Seq > released.Seq && m.Sent.Seq < until
	})
}

// removalTime is how much time a lock has to begin the removal of its key after an acquire
// has failed. Only a key that exists for that long counts.
func removalTime(ttl time.Duration) time.Duration { return ttl / 10 }

// findAbandonedKey finds a key of an acquire that failed and that the lock never tries to
// remove. It expires by itself, and until then no client is granted the lock. The node
// could be reached all the time: if a message was lost or late, a new connection would have
// worked.
func (h *judgedRun) findAbandonedKey() (reason Reason, at []int) {
	var first *history.Holding
	for _, key := range h.Holdings() {
		lock, isSlot := h.LockAt(key.Place)
		if !isSlot || lock.TTL == 0 || key.How != history.Expired || key.By == nil || key.By.Sent == 0 || first != nil && first.Ended.Seq < key.Ended.Seq {
			continue
		}
		acquire, set := h.firstCall(key.Owner, trace.Acquire), h.Event(key.By.Sent)
		if acquire == nil || set == nil || !acquire.Failed() || acquire.Began.ContextEnded {
			continue
		}
		since := history.Later(key.From, history.MomentOf(acquire.Ended))
		until := history.StartOf(since.At + removalTime(lock.TTL))
		switch processEnd, _ := h.ProcessEnd(key.Owner.Client); {
		case key.From.At > acquire.Ended.At+removalTime(lock.TTL), key.Ended.At < until.At:
		case processEnd != nil && history.MomentOf(processEnd).Before(until):
		case h.isObstructed(set, until), h.triesToRemove(key, set, lock):
		default:
			first = key
			reason = neverRemoved.Reason(key.Owner.Client, acquire.Began.At, key.Node, key.Ended.At)
			at = []int{acquire.Began.Seq, key.Set.Seq, acquire.Ended.Seq, key.Ended.Seq}
			slices.Sort(at)
		}
	}
	return reason, at
}

// isObstructed reports whether, from an event to a moment, a fault separated clients from
// nodes, or acted on one of them or its clock. A late or lost message and a cancelled call
// do not count, because other messages still arrive.
func (h *judgedRun) isObstructed(from *trace.Event, to history.Moment) bool {
	return slices.ContainsFunc(h.Acts(), func(a *history.Act) bool {
		switch h.Fault(a.Fault).Effect {
		case trace.HoldsMessage, trace.ResetsConnection, trace.CancelsCall:
			return false
		}
		ended := history.Never
		switch {
		case a.Instant:
			ended = history.MomentOf(a.Struck)
		case a.Lifted != nil:
			ended = history.MomentOf(a.Lifted)
		}
		return history.MomentOf(a.Struck).Before(to) && !ended.Before(history.MomentOf(from))
	})
}

// triesToRemove reports whether a client, after the request that set a key, sends its node
// another request that may be meant to remove the key. The request must belong to the same
// call of acquire, or to no call. A repetition of the first request does not count, and
// neither does a cancellation.
func (h *judgedRun) triesToRemove(key *history.Holding, set *trace.Event, lock trace.LockInfo) bool {
	return slices.ContainsFunc(h.Messages(), func(m *history.Message) bool {
		sent := m.Sent
		switch {
		case m.From != key.Owner.Client || m.To != key.Node && !slices.Contains(lock.Members, m.To):
			return false
		case sent.Reply || sent.KeepAlive || m.Sent.Handshake || m.IsCancellation() || sent.Seq <= set.Seq || sent.Seq > key.Ended.Seq:
			return false
		}
		return (sent.Section == key.Owner.Section || sent.Step == "") && sent.Text != set.Text
	})
}
