package checks

import (
	"cmp"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Hang is violated by a call of the lock that does not return although everything works
// again. That is so in two cases:
//
//   - The call has lasted for a minute in which no fault has acted. An acquire does not count while
//     any client is in a critical section of the lock. It does not count either if it waits for a
//     grant that exists and that no client uses: then it behaves correctly, and [Progress] is
//     violated.
//   - The call has sent no node anything about the lock for a TTL, so it waits for something in its
//     own process. An acquire does not count while another client's grant exists, because it has to
//     wait. It does not count either while its own client is in a section of the same lock.
//
// It is also violated by code that runs for ever without sending any message.
const Hang Property = trace.ConductHang

var noHang = misconduct(Card{
	Property: Hang, Gravity: 13,
	Title:  "each call of the lock returns once everything works again",
	Broken: "a call of the lock never returns",
	Label:  "hang", Meaning: "a call of the lock does not return although everything works again",
}, func(h *judgedRun) (Reason, []int) {
	if reason, at := h.findUnreturned(false); !reason.IsZero() {
		return reason, at
	}
	return h.findMuteCall()
})

// maxCallTime is how long a call of the lock may last once no fault acts any more.
const maxCallTime = time.Minute

// findUnreturned finds a call of the lock that has lasted for maxCallTime without a fault, and has
// not returned when the run is cut off. If forIdleGrant is true, it finds only an acquire that
// waits for the end of a grant that nobody uses; otherwise it finds any other call. An acquire does
// not count while a client is in a section of the lock, because it waits its turn.
func (h *judgedRun) findUnreturned(forIdleGrant bool) (Reason, []int) {
	horizon := h.Horizon()
	if horizon == nil {
		return Reason{}, nil
	}
	end := history.MomentOf(horizon)
	quietSince, isQuiet := h.QuietSince(end)
	if !isQuiet {
		return Reason{}, nil
	}
	before := func(ev *trace.Event) bool { return ev != nil && ev.Seq < horizon.Seq }
	for _, p := range h.Trace.Processes {
		processEnd, _ := h.ProcessEnd(p.Name)
		for _, c := range h.Calls() {
			switch {
			case c.Client != p.Name || c.Began == nil || before(c.Ended) || before(processEnd):
			case c.Step.AtStorage() || c.Step == trace.Work || horizon.At-max(c.Began.At, quietSince.At) < maxCallTime:
			case c.Step == trace.Acquire && h.isInSection(c.Lock, end):
			case (c.Step == trace.Acquire && h.isGranted(c.Lock, end)) != forIdleGrant:
			case forIdleGrant:
				return waitsForIdleGrant.Reason(p.Name, c.Step, c.Began.At, horizon.At), []int{c.Began.Seq, horizon.Seq}
			default:
				return stillWaits.Reason(p.Name, c.Step, c.Began.At, horizon.At), []int{c.Began.Seq, horizon.Seq}
			}
		}
	}
	return Reason{}, nil
}

// isInSection reports whether any client is in a section of a lock at a moment.
func (h *judgedRun) isInSection(lock string, at history.Moment) bool {
	return slices.ContainsFunc(h.Sections(), func(s *history.Section) bool { return s.Lock == lock && s.From.Before(at) && !s.To.Before(at) })
}

// isGranted reports whether, at a moment, the keys of one grant block the lock on a quorum of
// its slots. A slot is a place, such as a key on a node, in which the lock keeps its grants.
func (h *judgedRun) isGranted(lock string, at history.Moment) bool {
	count := map[history.Acquisition]int{}
	for _, k := range h.Holdings() {
		if h.Slots(lock).Contains(k.Place) && k.Blocking().Contains(at) {
			if count[k.Owner]++; count[k.Owner] >= h.Lock(lock).Quorum {
				return true
			}
		}
	}
	return false
}

// findMuteCall finds a call of the lock that has sent no node anything about the lock for a
// TTL and has not returned when the run is cut off.
//
// Such a run is judged even if preconditions of its scenario were not met, because the lock itself
// prevented them.
func (h *judgedRun) findMuteCall() (Reason, []int) {
	horizon := h.Horizon()
	if horizon == nil {
		return Reason{}, nil
	}
	for _, c := range h.Calls() {
		if c.Began == nil || c.Ended != nil || c.Crashed != nil || !c.Step.AtLock() {
			continue
		}
		lock := c.Lock
		if s := h.Section(c.Acquisition); s != nil {
			lock = s.Lock
		}
		patience := cmp.Or(h.Lock(lock).TTL, maxCallTime)
		if horizon.At-c.Began.At < patience || !h.isCalmSince(c.Began, horizon) || c.Step == trace.Acquire && !h.isLockFree(c, horizon, patience) || h.hasAsked(c, lock) {
			continue
		}
		if processEnd, _ := h.ProcessEnd(c.Client); processEnd != nil && processEnd.Seq < horizon.Seq {
			continue
		}
		return sentNothing.Reason(c.Client, c.Step, c.Began.At, horizon.At), []int{c.Began.Seq, horizon.Seq}
	}
	return Reason{}, nil
}

// isLockFree reports whether a call of acquire had no reason to wait when a run was cut off. For
// the given duration before, no other call of acquire had left a key of the lock, and the client
// itself was in no section of the lock. If it is not known in which keys the lock is kept, no
// client may be in a section of it.
func (h *judgedRun) isLockFree(c *history.Call, horizon *trace.Event, duration time.Duration) bool {
	since := history.StartOf(horizon.At - duration)
	blocks := func(k *history.Holding) bool {
		return h.Slots(c.Lock).Contains(k.Place) && k.Owner != c.Acquisition && since.Before(k.Blocking().To)
	}
	occupies := func(s *history.Section) bool {
		return s.Lock == c.Lock && !s.To.Before(history.MomentOf(horizon)) && (s.Client == c.Client || len(h.Slots(c.Lock)) == 0)
	}
	return !slices.ContainsFunc(h.Holdings(), blocks) && !slices.ContainsFunc(h.Sections(), occupies)
}

// hasAsked reports whether a client has sent anything about a lock to a node since a call
// began. Messages about another lock do not count, because the client may be in a section
// of that lock.
func (h *judgedRun) hasAsked(c *history.Call, lock string) bool {
	return slices.ContainsFunc(h.Messages(), func(m *history.Message) bool {
		sent := m.Sent
		if m.From != c.Client || sent.Seq < c.Began.Seq || m.To == trace.StorageName || sent.Reply || sent.KeepAlive {
			return false
		}
		return h.namesKeyOf(m, lock) || !slices.ContainsFunc(h.Trace.Locks, func(l trace.LockInfo) bool { return h.namesKeyOf(m, l.Name) })
	})
}

// namesKeyOf reports whether a message names a key of a lock.
func (h *judgedRun) namesKeyOf(m *history.Message, lock string) bool {
	return slices.ContainsFunc(h.Slots(lock), func(p history.Place) bool { return slices.Contains(m.Command(), p.Key) })
}

// waitsInSilence reports whether a call of acquire has not returned when the run is cut off,
// although the lock has been free for a TTL and the client has sent no server anything for as long.
// For example, the call waits for a notification that was sent before it listened. Such a call can
// be found even if the run is too short for [Hang].
func (h *judgedRun) waitsInSilence() bool {
	horizon := h.Horizon()
	if horizon == nil {
		return false
	}
	return slices.ContainsFunc(h.Calls(), func(c *history.Call) bool {
		ttl := h.Lock(c.Lock).TTL
		if c.Step != trace.Acquire || c.Began == nil || c.Ended != nil || c.Crashed != nil || ttl == 0 || horizon.At-c.Began.At < ttl {
			return false
		}
		disturbs := func(a *history.Act) bool {
			stopped := h.Fault(a.Fault).Stops
			isOver := a.Lifted != nil && a.Lifted.At <= horizon.At-ttl || h.IsClient(stopped) && stopped != c.Client && a.Struck.At <= horizon.At-ttl
			return !isOver
		}
		return !slices.ContainsFunc(h.Acts(), disturbs) && h.isLockFree(c, horizon, ttl) && !slices.ContainsFunc(h.Messages(), func(m *history.Message) bool {
			return m.From == c.Client && m.To != trace.StorageName && !m.Sent.Reply && !m.Sent.KeepAlive && m.Sent.At > horizon.At-ttl
		})
	})
}
