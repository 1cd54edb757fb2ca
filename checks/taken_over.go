package checks

import (
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Some locks are kept in a record that contains the holder and the end of the lease, such as a
// database row or a value with a deadline, and no server enforces the end. Once the lease has
// ended, or the owner has marked the record as free, another client may replace the record. This
// client acquires the lock and takes no valid grant away.

// isTakeover reports whether a change takes a lock over. The change must replace a record whose
// content says that the lease has ended or that the lock is free. changer is the actor that
// replaces it.
func (h *judgedRun) isTakeover(c history.Change, changer *trace.Actor) bool {
	if c.Touch || c.Before == nil || c.After == nil {
		return false
	}
	lastWrite, changed := c.Before.Set, history.MomentOf(c.Event)
	if n := len(c.Before.Touches); n > 0 {
		lastWrite = c.Before.Touches[n-1]
	}
	lock, isSlot := h.LockAt(c.Place)
	if !isSlot {
		return false
	}
	server := h.Clocks().Of(c.Node, fakeclock.Wall)
	if lastWrite.TTL > 0 { // the server knows the end, and by its clock the end has not come
		if !h.Clocks().HasReadings(c.Node) { // the server counts down, so its end is not a time of day
			return false
		}
		end := server.ReadingAt(history.MomentOf(lastWrite)) + int64(lastWrite.TTL)
		return h.wallClockOf(lock, changer.Client).ReadingAt(changed) >= end
	}
	asked, isRelease := h.callStart(lastWrite)
	elapsed := func(clock history.Clock, since history.Moment) time.Duration {
		return time.Duration(clock.ReadingAt(changed) - clock.ReadingAt(since))
	}
	return isRelease || lock.TTL > 0 && (elapsed(server, history.MomentOf(lastWrite)) >= lock.TTL ||
		h.wallClockOf(lock, changer.Client).ReadingAt(changed) >= h.wallClockOf(lock, c.Before.Owner.Client).ReadingAt(asked)+int64(lock.TTL))
}

// wallClockOf returns a client's wall clock, as its lock reads it.
func (h *judgedRun) wallClockOf(lock trace.LockInfo, client string) history.Clock {
	if lock.TrueTime {
		return h.Clocks().Unfaulted(client, fakeclock.Wall)
	}
	return h.Clocks().Of(client, fakeclock.Wall)
}

// callStart returns when the client that wrote a record began the call in which it sent the
// command. The lease in the record lasts for at least a TTL from then on. isRelease reports whether
// it was a call of release.
func (h *judgedRun) callStart(wrote *trace.Event) (since history.Moment, isRelease bool) {
	since = history.MomentOf(wrote)
	by := wrote.By
	if by == nil || h.Event(by.Sent) == nil {
		return since, false
	}
	since = history.MomentOf(h.Event(by.Sent))
	for _, call := range h.CallsOf(history.AcquisitionOf(by)) {
		during := call.Began != nil && call.Began.Seq < by.Sent && (call.Ended == nil || call.Ended.Seq > by.Sent)
		if during && call.Step.AtLock() {
			since, isRelease = history.MomentOf(call.Began), isRelease || call.Step == trace.Release
		}
	}
	return since, isRelease
}
