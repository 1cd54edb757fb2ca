package checks

import (
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// ReleaseAnswer is violated when the answer of a call of release does not match what the
// call did, as the lock's keys on its servers show. There are two cases.
//
//   - A wrong success: release returned success, but the client gave up no key of the grant.
//     Since the call began, no command of the client removed a key or shortened its TTL. No
//     earlier release did, either, and the connection that held the key was not closed. So the
//     client had lost the lock before the call, or it still holds the lock after it. The loss
//     can be the lock's own doing: a command of the lock removed the key while the lease was
//     valid.
//   - A wrong error: release returned an error, but a command of this call had removed the
//     grant, the answer to that command had reached the client, and no fault had disturbed the
//     call.
//
// It is unknown in two cases. In the first, release returned an error although it had
// removed the grant, but the error has an excuse: a fault acted during the call, the call
// was cancelled, or the answer to the command had not arrived. Such an error is right if it
// means "not confirmed" and wrong if it means "not held", and a trace does not show which.
// In the second, the run ended while a message of the release was in flight.
//
// It holds if a release that removed no grant returned an error. If a lock is released
// twice, any answer of the second release is right.
//
// It is n/a if nothing can be compared: the lock grants everyone, it does not declare which
// keys it keeps, the server never had a key of the grant, or no release returned.
//
// Many libraries document that releasing an expired lock returns success. Therefore a
// violation is reported but does not count (see [Card.ReportOnly]), with two exceptions for
// which the lock is to blame. The first is the wrong error above. The second is a wrong
// success, if no fault of the run had acted before and the lease that the lock had declared
// was still running when release was called.
const ReleaseAnswer Property = "release-answer"

var releaseAnswer = property{
	Card: Card{
		Property: ReleaseAnswer, Subject: SubjectConduct, Gravity: 11, Letter: "a", ReportOnly: true,
		Title:  "release returns success if it has released the lock, and an error if it has not",
		Broken: "a release returns a false result",
		Label:  "false answer", Meaning: "a release returns success without having released the lock, or an error although it has",
	},
	judge: judgeReleaseAnswer,
}

func judgeReleaseAnswer(h *judgedRun) Finding {
	declaresKeys := func(l trace.LockInfo) bool { return len(l.Slots) > 0 }
	switch {
	case len(h.Trace.Locks) == 0:
		return notApplicable(noLock.Reason())
	case h.NoExclusion():
		return notApplicable(grantsEveryone.Reason())
	case !slices.ContainsFunc(h.Trace.Locks, declaresKeys):
		return notApplicable(keysUnknown.Reason())
	}
	verdict := notApplicable(nothingToCompare.Reason())
	for _, c := range h.Calls() {
		r, comparable := h.newReleaseCall(c)
		if !comparable {
			continue
		}
		switch f := r.judge(); {
		case f.Outcome == Violated:
			verdict = worse(verdict, f)
		case verdict.Outcome == NotApplicable, verdict.Outcome == Holds && f.Outcome == Unknown:
			verdict = f
		}
	}
	return verdict
}

// A releaseCall is a call of release that returned, with the keys of its grant.
type releaseCall struct {
	*judgedRun
	call    *history.Call
	section *history.Section
	// keys are the keys that the grant had when release was called, or before.
	keys []*history.Holding
}

// newReleaseCall returns a call of release with the keys to compare its answer with. The answer is
// not comparable if the call never returned, if no server had a key of the grant, or if the client
// had released the grant before, with a release or with a write.
func (h *judgedRun) newReleaseCall(c *history.Call) (r releaseCall, comparable bool) {
	s := h.Section(c.Acquisition)
	if c.Step != trace.Release || c.Began == nil || c.Ended == nil || s == nil || s.ReleasedByWrite() {
		return r, false
	}
	r = releaseCall{judgedRun: h, call: c, section: s}
	slots := h.Slots(s.Lock) // the places, each a key on a node, where the lock keeps its grants
	for _, k := range h.HoldingsOf(c.Acquisition) {
		ofLock := slices.ContainsFunc(slots, func(p history.Place) bool { return p.Key == k.Key })
		if !ofLock || k.Set.Seq > c.Began.Seq {
			continue
		}
		if k.How == history.Removed && r.isOwn(k.Ended) && k.Ended.Seq < c.Began.Seq && h.ownRemoval(s) == nil {
			return r, false
		}
		r.keys = append(r.keys, k)
	}
	return r, len(r.keys) > 0
}

// isOwn reports whether the client's own command caused an event. It compares only clients, not
// critical sections. If a lock sends a command in the background, the trace records the section
// that the client is in at that time, which may be a later one.
func (r releaseCall) isOwn(ev *trace.Event) bool {
	return ev.By != nil && ev.By.Client == r.call.Client
}

func (r releaseCall) judge() Finding {
	if r.call.OK() {
		return r.judgeSuccess()
	}
	return r.judgeFailure()
}

// judgeSuccess judges the answer of a release that returned success.
func (r releaseCall) judgeSuccess() Finding {
	if slices.ContainsFunc(r.keys, r.wasGivenUp) {
		return holds()
	}
	remaining := slices.DeleteFunc(slices.Clone(r.keys), func(k *history.Holding) bool {
		return k.Existence().To.Before(history.MomentOf(r.call.Ended))
	})
	f := Finding{Outcome: Violated, At: r.call.Ended.Seq, Events: []int{r.call.Began.Seq, r.call.Ended.Seq}}
	name, at := r.Name(r.section), r.call.Ended.At
	switch {
	case len(remaining) > 0 && r.isMessageInFlight(remaining):
		return unknown(releaseUnderWay.Reason(name))
	case len(remaining) > 0:
		var nodes []string
		for _, k := range remaining {
			nodes = append(nodes, k.Node)
		}
		f.Reason = releasedNothing.Reason(name, at, strings.Join(r.InWorldOrder(nodes), ", "))
	default:
		last := r.keys[0]
		for _, k := range r.keys {
			if last.Existence().To.Before(k.Existence().To) {
				last = k
			}
		}
		if last.Ended != nil && last.Ended.Seq < r.call.Ended.Seq {
			f.Events = append([]int{last.Ended.Seq}, f.Events...)
			slices.Sort(f.Events)
		}
		f.Reason = releasedLost.Reason(name, at, keyEnding(last), last.Node, last.Existence().To)
	}
	if r.LastFaultUntil(r.call.Ended.Seq) == nil && r.isLeaseRunning() {
		f.Blame, f.Reason = r.blameUnlessRanWhilePaused(BlameLock, f.Reason, f.At, r.call.Client)
	}
	return f
}

// wasGivenUp reports whether the client gave a key up after release was called, even after
// release had returned: it removed, replaced or shortened the key, or closed the connection
// that held it.
func (r releaseCall) wasGivenUp(k *history.Holding) bool {
	due := dueBy(k.Set) // the due time before each touch
	for _, ev := range k.Touches {
		if ev.Seq > r.call.Began.Seq && r.isOwn(ev) && dueBy(ev) < due {
			return true
		}
		due = dueBy(ev)
	}
	if k.Ended == nil || k.Ended.Seq < r.call.Began.Seq {
		return false
	}
	switch k.How {
	case history.Removed:
		return k.Ended.By == nil || r.isOwn(k.Ended)
	case history.Overwritten:
		return r.isOwn(k.Ended) && k.Ended.By.Sent >= r.call.Began.Seq
	case history.Dropped:
		return true
	case history.Replaced: // two clients shared the key; now only the other client has it
		return r.isOwn(k.Ended)
	}
	return false
}

// dueBy returns the time at which a key expires, as set by an event that set or renewed it.
func dueBy(ev *trace.Event) time.Duration {
	if ev.TTL == 0 {
		return history.Forever
	}
	return ev.At + ev.TTL
}

// isMessageInFlight reports whether some of the remaining keys existed when the run ended,
// and a message that the client had sent to a server after it called release had not arrived.
func (r releaseCall) isMessageInFlight(remaining []*history.Holding) bool {
	exists := func(k *history.Holding) bool { return k.How == history.StillExists }
	return slices.ContainsFunc(remaining, exists) && slices.ContainsFunc(r.Messages(), func(m *history.Message) bool {
		return m.From == r.call.Client && m.To != trace.StorageName && m.Sent.Seq > r.call.Began.Seq &&
			!m.Sent.KeepAlive && m.Arrived == nil && m.Lost == nil
	})
}

// isLeaseRunning reports whether the lease that the lock had declared was still running,
// and the lock had not reported its loss, when release was called.
func (r releaseCall) isLeaseRunning() bool {
	called := history.MomentOf(r.call.Began)
	last := r.section.Lease.Latest(r.call.Began.Seq)
	return last != nil && called.Before(last.Until) && (r.section.Lost == nil || r.call.Began.Seq < r.section.Lost.Seq)
}

// judgeFailure judges the answer of a release that returned an error.
func (r releaseCall) judgeFailure() Finding {
	slots, quorum := r.Slots(r.section.Lock), r.Lock(r.section.Lock).Quorum
	for _, ev := range r.Promotions() {
		if ev.Seq < r.call.Began.Seq {
			slots.See(ev)
		}
	}
	var removed []*history.Holding
	for _, k := range r.keys {
		if slots.Contains(k.Place) && k.How == history.Removed && r.isOwn(k.Ended) && r.call.Began.Seq < k.Ended.Seq && k.Ended.Seq < r.call.Ended.Seq {
			removed = append(removed, k)
		}
	}
	if len(removed) < max(quorum, 1) {
		return holds()
	}
	name, at, last := r.Name(r.section), r.call.Ended.At, removed[0]
	for _, k := range removed {
		if last.Ended.Seq < k.Ended.Seq {
			last = k
		}
	}
	if r.wasDisturbed() || !r.wasAnswered(last.Ended) {
		return unknown(releaseDisturbed.Reason(name, at, last.Ended.At))
	}
	f := Finding{Outcome: Violated, At: r.call.Ended.Seq, Events: []int{r.call.Began.Seq, last.Ended.Seq, r.call.Ended.Seq}}
	f.Reason = releasedDespiteError.Reason(name, at, last.Node, last.Ended.At)
	f.Blame, f.Reason = r.blameUnlessRanWhilePaused(BlameLock, f.Reason, f.At, r.call.Client)
	return f
}

// wasDisturbed reports whether a fault acted during the call, or the call was cancelled.
func (r releaseCall) wasDisturbed() bool {
	since, calm := r.QuietSince(history.MomentOf(r.call.Ended))
	return !calm || history.MomentOf(r.call.Began).Before(since) || r.call.Cancelled != nil
}

// wasAnswered reports whether the answer to the command that removed a key had reached the client
// when release returned. Any answer that the server sent on the command's connection after the
// removal counts as this answer.
func (r releaseCall) wasAnswered(removal *trace.Event) bool {
	sent := r.Event(removal.By.Sent)
	return sent != nil && slices.ContainsFunc(r.Messages(), func(m *history.Message) bool {
		return m.Sent.Reply && m.From == sent.Peer && m.To == sent.Process && m.Sent.Conn == sent.Conn && !m.Sent.KeepAlive &&
			removal.Seq < m.Sent.Seq && m.Arrived != nil && m.Arrived.Seq < r.call.Ended.Seq
	})
}

// keyEnding returns the reason for the end of a key that its client had not released. Some
// of the codes have the name of the client that ended the key as their argument (code1),
// and the others have no argument (code0).
func keyEnding(k *history.Holding) Reason {
	endedBy := func(byClient code1[string], byItself code0) Reason {
		if k.Ended != nil && k.Ended.By != nil {
			return byClient.Reason(k.Ended.By.Client)
		}
		return byItself.Reason()
	}
	switch k.How {
	case history.Expired:
		return endedBy(keyTakenOver, keyExpired)
	case history.Removed:
		return endedBy(keyRemovedBy, keyRemoved)
	case history.Overwritten:
		return endedBy(keyOverwrittenBy, keyOverwritten)
	case history.Dropped:
		return keyDropped.Reason()
	case history.Replaced:
		return keyReplaced.Reason()
	}
	return keyLost.Reason() // or the key exists on a node that has not come back
}
