package checks

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// mistakeWithExtension returns the mistake of an extend of which a client's program complains,
// and the call in which it was made; "" if it is not recognised. The last events of the
// violation are the beginning and the end of the extend.
func (h *judgedRun) mistakeWithExtension(f Finding) (Mistake, trace.Step) {
	c := h.callEndedBy(f.At)
	if c == nil || c.Step != trace.Extend || h.Section(c.Acquisition) == nil {
		return "", ""
	}
	lease, keys := h.Section(c.Acquisition).Lease, h.slotKeys(c.Acquisition)
	declared := lease.Latest(c.Ended.Seq)
	hadNoKey := len(keys) > 0 && !slices.ContainsFunc(keys, func(k *history.Holding) bool { return k.Ended == nil || k.Ended.Seq > c.Began.Seq })
	outlivesKeys := len(keys) > 0 && declared != nil && !slices.ContainsFunc(keys, func(k *history.Holding) bool {
		return k.How != history.Expired || k.Due >= declared.Until.At
	})
	switch {
	case (hadNoKey || outlivesKeys) && h.asksForOtherKey(c.Acquisition, trace.Extend):
		return asksForOtherKey, trace.Extend
	case c.OK() && hadNoKey:
		return extendsLostLease, trace.Extend
	case c.OK() && lease.RenewedTooLate() != nil:
		return extendsTooLate, trace.Extend
	case outlivesKeys && (c.OK() || hadNoKey):
		return h.mistakeWithShortKeys(c.Acquisition, declared), declared.Call.Step
	}
	return "", ""
}

// mistakeWithShortKeys returns the mistake of an acquisition whose lease, as the declaration d
// says, outlives its keys.
func (h *judgedRun) mistakeWithShortKeys(a history.Acquisition, d *history.Declaration) Mistake {
	c := h.callEndedBy(d.Event.Seq)
	switch {
	case h.asksForOtherKey(a, d.Call.Step):
		return asksForOtherKey
	case c != nil && c.Step == trace.Extend && !h.isExtended(c):
		return extendsLostLease
	}
	return leaseOutlivesKey
}

// isExtended reports whether a quorum of the keys of a lease was extended, or set again, during a
// call.
func (h *judgedRun) isExtended(c *history.Call) bool {
	extended := map[history.Place]bool{}
	for _, k := range h.slotKeys(c.Acquisition) {
		for _, ev := range append([]*trace.Event{k.Set}, k.Touches...) {
			if c.Began.Seq < ev.Seq && ev.Seq < c.Ended.Seq {
				extended[k.Place] = true
			}
		}
	}
	return len(extended) >= max(h.Lock(h.Section(c.Acquisition).Lock).Quorum, 1)
}

// callEndedBy returns the call of the lock that ended with an event. It returns nil if none
// did, or if the lock renewed the lease by itself.
func (h *judgedRun) callEndedBy(seq int) *history.Call {
	for _, c := range h.Calls() {
		if c.Began != nil && c.Ended != nil && c.Ended.Seq == seq {
			return c
		}
	}
	return nil
}

// slotKeys returns the keys of the lock that an acquisition has had.
func (h *judgedRun) slotKeys(a history.Acquisition) []*history.Holding {
	return slices.DeleteFunc(slices.Clone(h.HoldingsOf(a)), func(k *history.Holding) bool { return !h.IsLockKey(k.Key) })
}
