package locktest

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	voice "github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// Releases that fail, and keys that a failed acquire leaves on a node.

// ruleRelease is that a release fails though nothing is wrong.
const ruleRelease = "release fails"

// releases counts the calls of release that have returned, and those that returned an error.
type releases struct{ Returned, Failed int }

// releasesIn counts the releases of a run.
func releasesIn(h *history.History) (n releases) {
	for _, c := range h.Calls() {
		if c.Step != trace.Release || c.Ended == nil || c.Crashed != nil {
			continue
		}
		n.Returned++
		if c.Failed() {
			n.Failed++
		}
	}
	return n
}

func (n *releases) add(more releases) {
	n.Returned += more.Returned
	n.Failed += more.Failed
}

// String tells people how many releases failed; it is empty if none did.
func (n releases) String() string {
	if n.Failed == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d releases failed", n.Failed, n.Returned)
}

// unreleased: a release that returns an error, although no fault has acted since its lock
// was asked for, the lease was still running and its keys stood.
func unreleased(_ *subject, w world, h *history.History) (rule, why string, at []int) {
	if w.ended {
		return "", "", nil
	}
	for _, s := range h.Sections() {
		release := firstCall(h, s.Acquisition, trace.Release)
		if release == nil || !release.Failed() || release.Cancelled != nil || s.Granted.Ungranted {
			continue
		}
		if !calmSince(h, s.Called(), release.Ended) || !heldDuring(h, s, release) {
			continue
		}
		return ruleRelease, fmt.Sprintf("%s called release at %s, and it failed although nothing was wrong: %s", s.Client, voice.Time(release.Began.At), release.Ended.Text),
			[]int{s.Granted.Seq, release.Began.Seq, release.Ended.Seq}
	}
	return "", "", nil
}

// firstCall is the first call of a step in an acquisition; nil if there is none, or if it has
// not returned.
func firstCall(h *history.History, id history.Acquisition, step trace.Step) *history.Call {
	for _, c := range h.CallsOf(id) {
		if c.Step == step {
			if c.Ended == nil || c.Crashed != nil {
				return nil
			}
			return c
		}
	}
	return nil
}

// calmSince says that from one event to a later one no fault acted, and that no clock had
// been changed before that.
func calmSince(h *history.History, from, to *trace.Event) bool {
	return calm(h, to) >= to.At-from.At && !slices.ContainsFunc(h.ClockChanges(), func(ev *trace.Event) bool {
		return ev.Clocks.Why != "" && ev.Seq < to.Seq
	})
}

// heldDuring says that a section's lease ran for as long as a call of its release, and that
// its keys stood when that began.
func heldDuring(h *history.History, s *history.Section, release *history.Call) bool {
	began, ended := history.MomentOf(release.Began), history.MomentOf(release.Ended)
	lease := s.Lease.Latest(release.Began.Seq)
	if lease == nil || !ended.Before(lease.Until) || s.Lost != nil && s.Lost.Seq < release.Ended.Seq {
		return false
	}
	return slices.ContainsFunc(h.Backed(s.Lock, s.Acquisition), func(b history.Backing) bool { return b.Has(began) })
}

// room is how much time a lock has to begin with the removal of its key, after an acquire
// has failed. The key must stand for as long.
func room(ttl time.Duration) time.Duration { return ttl / 10 }

// abandoned: a key that an acquire has set which then failed, and that the lock never tries
// to remove. It expires by itself, and until then nobody gets the lock. The node could be
// reached all the time: what was lost or late is a message, and a new connection would have
// served.
func abandoned(_ *subject, w world, h *history.History) (rule, why string, at []int) {
	if w.ended {
		return "", "", nil
	}
	var first *history.Holding
	for _, key := range h.Holdings() {
		lock, kept := h.LockAt(key.Place)
		if !kept || lock.TTL == 0 || key.How != history.Expired || key.By == nil || key.By.Sent == 0 || first != nil && first.Ended.Seq < key.Ended.Seq {
			continue
		}
		acquire := firstCall(h, key.Owner, trace.Acquire)
		if acquire == nil || !acquire.Failed() {
			continue
		}
		since := history.Later(key.From, history.MomentOf(acquire.Ended))
		until := history.StartOf(since.At + room(lock.TTL))
		switch over, _ := h.Fate(key.Owner.Client); {
		case key.From.At > acquire.Ended.At+room(lock.TTL), key.Ended.At < until.At:
		case over != nil && history.MomentOf(over).Before(until):
		case obstructed(h, h.Event(key.By.Sent), until), removes(h, key, lock):
		default:
			first = key
			why = fmt.Sprintf("%s called acquire at %s, and it failed; its key on %s then stood until %s, and %s never tried to remove it",
				key.Owner.Client, voice.Time(acquire.Began.At), key.Node, voice.Time(key.Ended.At), key.Owner.Client)
			at = []int{acquire.Began.Seq, key.Set.Seq, acquire.Ended.Seq, key.Ended.Seq}
			slices.Sort(at)
		}
	}
	if first == nil {
		return "", "", nil
	}
	return ruleLeft, why, at
}

// obstructed says that from an event to a moment a fault kept clients and nodes from each
// other, or acted on one of them or on its clock. A single message that is late or lost, or
// a call that is cancelled, leaves all other messages their way.
func obstructed(h *history.History, from *trace.Event, to history.Moment) bool {
	return slices.ContainsFunc(h.Acts(), func(a *history.Act) bool {
		switch h.Fault(a.Fault).Effect {
		case trace.HoldsMessage, trace.ResetsConnection, trace.CancelsCall:
			return false
		}
		over := history.Never
		switch {
		case a.Instant:
			over = history.MomentOf(a.Struck)
		case a.Lifted != nil:
			over = history.MomentOf(a.Lifted)
		}
		return history.MomentOf(a.Struck).Before(to) && !over.Before(history.MomentOf(from))
	})
}

// removes says that after the request that set a key its client sends another one to the
// key's node that may be meant to remove it: in the same call of acquire, or by itself
// before the next. A repetition of the request is none.
func removes(h *history.History, key *history.Holding, lock trace.LockInfo) bool {
	set := h.Event(key.By.Sent)
	return slices.ContainsFunc(h.Messages(), func(m *history.Message) bool {
		sent := m.Sent
		switch {
		case m.From != key.Owner.Client || m.To != key.Node && !slices.Contains(lock.Members, m.To):
			return false
		case sent.Reply || sent.KeepAlive || m.Handshake() || sent.Seq <= set.Seq || sent.Seq > key.Ended.Seq:
			return false
		}
		return (sent.Section == key.Owner.Section || sent.Step == "") && sent.Text != set.Text
	})
}
