package checks

import (
	"slices"

	"github.com/locksim/locksim/history"
)

// GrantOrder is violated when a write of an older grant was applied after a newer grant was made. A
// grant is made when its acquire returns. A client with several locks writes under the lock that
// has the object's name, or else under all of them. The property does not apply to a lock with room
// for several clients, because a newer grant of such a lock does not end an older one.
const GrantOrder Property = "grant-order"

var grantOrder = property{
	Card: Card{
		Property: GrantOrder, Subject: SubjectConduct, Gravity: 6, Letter: "g",
		Title:  "no write of an older grant is applied after a newer grant",
		Broken: "a write of an older grant is applied after a newer grant",
		Label:  "late write", Meaning: "a write of an older grant is applied after a newer grant",
	},
	judge: judgeGrantOrder,
}

func judgeGrantOrder(h *judgedRun) Finding {
	switch {
	case len(h.Trace.Locks) == 0:
		return notApplicable(noLock.Reason())
	case h.NoExclusion():
		return notApplicable(grantsEveryone.Reason())
	case h.AllLocksShared():
		return notApplicable(severalHolders.Reason())
	case !h.HasRanks():
		return unknown(noRanks.Reason())
	}
	sections := h.Sections()
	unseen := slices.DeleteFunc(slices.Clone(sections), func(s *history.Section) bool {
		return s.Granted.Earliest == 0 || s.GrantsEveryone || s.MaxHolders != 1
	})
	verdict := holds()
	newest := map[string]uint64{}    // by lock: the rank (place in the order) of the newest grant
	for _, v := range h.Versions() { // the first write to be applied is the first violation
		for len(sections) > 0 && sections[0].From.Before(history.MomentOf(v.Made)) {
			if s := sections[0]; !s.GrantsEveryone && s.MaxHolders == 1 {
				newest[s.Lock] = max(newest[s.Lock], s.Rank())
			}
			sections = sections[1:]
		}
		if v.By.Granted == nil {
			continue
		}
		for _, by := range protectingSections(v) {
			if newest[by.Lock] <= by.Rank() {
				for _, s := range unseen {
					if s.Lock == by.Lock && s.Rank() > by.Rank() && mayPrecede(s.Granted, history.MomentOf(v.Made)) {
						verdict = h.unknownOrder(s, writeApplied.Reason(h.Name(by), v.Object, history.MomentOf(v.Made)))
					}
				}
				continue
			}
			for _, s := range h.Sections() {
				if s.Lock == by.Lock && !s.GrantsEveryone && s.Rank() > by.Rank() {
					return Finding{
						Outcome: Violated, At: v.Made.Seq, Events: []int{s.From.Seq, v.Made.Seq},
						Reason: wroteAfterGrant.Reason(h.Name(by), v.Object, v.Made.At, h.Name(s), s.From),
					}
				}
			}
		}
	}
	return verdict
}

// protectingSections returns the critical sections under whose locks a write was made. If a client
// has several locks, it is the section of the lock with the object's name, or else all its
// sections.
func protectingSections(v *history.Version) []*history.Section {
	if v.Object == v.By.Lock {
		return []*history.Section{v.By}
	}
	return slices.DeleteFunc(v.By.WorkSections(), func(s *history.Section) bool { return s != v.By && s.From.Seq > v.Issued })
}
