package storyboard

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// readSections adds the grants of the cast's critical sections, and how their leases ended.
func (r *reader) readSections() {
	for _, s := range r.Sections() {
		if s.GrantsEveryone || !r.cast.hasSection(s.Acquisition) {
			continue
		}
		named := ""
		if r.cast.hasSeveralLocks() {
			named = s.Lock
		}
		isNowhere := s.Granted.Ungranted && len(r.Slots(s.Lock)) > 0
		grant := r.addEvent(s.Granted, clientLane(s.Client), grantKind, story.CaptionGrant(s, named, isNowhere))
		grant.comesFrom = &place{lockLane, grant.Moment}
		for _, lapse := range s.Lapses() {
			if lapse.At.At < min(s.Lease.CutAt.At, s.To.At, r.Last().At) {
				r.add(moment{Moment: lapse.At, lane: clientLane(s.Client), kind: lapseKind, text: "lease expires", client: s.Client})
			}
		}
		if s.Lost != nil {
			r.addEvent(s.Lost, clientLane(s.Client), noticeKind, "learns that its lease is lost")
		}
		r.readKeyLoss(s)
	}
}

// readKeyLoss adds the moment at which the lock service lost a grant before its lease had
// ended.
func (r *reader) readKeyLoss(s *history.Section) {
	for _, b := range r.Backings(s.Lock, s.Acquisition) {
		if b.EndedBy == nil || !b.To.Before(s.Lease.End()) {
			continue
		}
		text := story.CaptionQuorumLoss(s.Client, r.Lock(s.Lock).Quorum)
		for _, c := range r.KeyChanges() {
			if c.Event.Seq <= b.EndedBy.Seq && c.Before != nil && c.Before.Owner == s.Acquisition && c.After != c.Before {
				text = story.CaptionKeyLoss(c, s.Client)
			}
		}
		r.add(moment{Moment: b.To, seq: b.EndedBy.Seq, lane: lockLane, kind: keyLossKind, text: text, client: s.Client})
		return
	}
}

// readFailures adds the failures of the clients of the cast to acquire the lock. Each client has
// at most one moment for all its failed calls, and one for a call that waits in vain until the
// end of the run.
func (r *reader) readFailures() {
	for _, client := range r.cast.clients {
		var first *trace.Event
		n := 0
		for _, c := range r.Calls() {
			if c.Client == client && c.Step == trace.Acquire && c.Failed() {
				first = cmp.Or(first, c.Ended)
				n++
			}
		}
		if n > 0 {
			r.addEvent(first, clientLane(client), failureKind, story.CaptionFailures(n))
		}
		waits := slices.IndexFunc(r.Calls(), func(c *history.Call) bool {
			return c.Client == client && c.Step == trace.Acquire && c.Began != nil && c.Ended == nil && c.Crashed == nil
		})
		if waits >= 0 {
			r.addEvent(r.Calls()[waits].Began, clientLane(client), failureKind, "waits for the lock, in vain")
		}
	}
}
