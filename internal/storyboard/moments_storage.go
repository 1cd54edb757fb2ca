package storyboard

import (
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// readStorage adds what the storage did with the requests of the cast, and what it lost.
func (r *reader) readStorage() {
	made := map[*trace.Event]*history.Version{}
	for _, v := range r.Versions() {
		made[v.Made] = v
	}
	for _, ev := range r.ServedRequests() {
		if !r.cast.hasRequest(ev) {
			continue
		}
		of := ""
		if r.cast.hasSeveralObjects() {
			of = ev.Object
		}
		var m *moment
		switch {
		case !ev.OK:
			m = r.addEvent(ev, storageLane, refusalKind, story.CaptionRefusal(ev, r.highestToken(ev)))
		case ev.Step == trace.Write && isLate(made[ev]):
			m = r.addEvent(ev, storageLane, lateWriteKind, story.CaptionWrite(ev, true, of))
		case ev.Step == trace.Write:
			m = r.addEvent(ev, storageLane, writeKind, story.CaptionWrite(ev, false, of))
		case ev.Step == trace.Read:
			m = r.addEvent(ev, storageLane, readKind, story.CaptionRead(ev, of))
		default:
			continue
		}
		m.client, m.comesFrom = ev.Client(), r.sentBy(ev)
	}
	for _, ev := range r.StorageLosses() {
		r.addEvent(ev, storageLane, storageLossKind, story.CaptionLoss(ev))
	}
}

// isLate reports whether a write replaced the write of another section, which its own
// section had not read, or which a newer grant had made.
func isLate(v *history.Version) bool {
	if v == nil || v.Replaced.Made == nil || v.Replaced.By.Acquisition == v.By.Acquisition {
		return false
	}
	before := v.Replaced.By
	isOlder := v.By.Granted != nil && before.Granted != nil && v.By.Rank() < before.Rank()
	return isOlder || !v.Blind && !v.By.KnewVersion(v.Replaced, v.Issued)
}

// highestToken returns the highest token of an accepted request for the same object before
// an event; 0 if there is none.
func (r *reader) highestToken(refused *trace.Event) uint64 {
	highest := uint64(0)
	for _, ev := range r.StorageDecisions() {
		if ev.Seq < refused.Seq && ev.OK && ev.Object == refused.Object && ev.Process == refused.Process {
			highest = max(highest, ev.Token)
		}
	}
	return highest
}
