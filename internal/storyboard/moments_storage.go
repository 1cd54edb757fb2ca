package storyboard

import (
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/storage"
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
			policy := storage.Policy(r.Trace.Fencing)
			m = r.addEvent(ev, storageLane, refusalKind, story.CaptionRefusal(ev, policy, r.highestToken(ev, policy), r.versionAt(ev)))
		case ev.Step == trace.Write && isLate(made[ev]):
			m = r.addEvent(ev, storageLane, lateWriteKind, story.CaptionWrite(ev, true, of))
		case ev.Step == trace.Write:
			m = r.addEvent(ev, storageLane, writeKind, story.CaptionWrite(ev, false, of))
		case ev.Step == trace.Read:
			m = r.addEvent(ev, storageLane, readKind, story.CaptionRead(ev, of))
		default:
			continue
		}
		m.client, m.step, m.comesFrom = ev.Client(), ev.Step, r.sentBy(ev)
	}
	for _, ev := range r.StorageLosses() {
		r.addEvent(ev, storageLane, storageLossKind, story.CaptionLoss(ev))
	}
}

// isLate reports whether a write replaced a version of another critical section, in one of two
// cases. The section that wrote that version had a newer grant. Or the write's section had read the
// object before, but did not know that version.
func isLate(v *history.Version) bool {
	if v == nil || v.Replaced.Made == nil || v.Replaced.By.Acquisition == v.By.Acquisition {
		return false
	}
	before := v.Replaced.By
	isOlder := v.By.Granted != nil && before.Granted != nil && v.By.Rank() < before.Rank()
	return isOlder || !v.Blind && !v.By.KnewVersion(v.Replaced, v.Issued)
}

// highestToken returns the highest token that the storage remembered when it refused a request.
// It considers only the requests that the storage had accepted since it last forgot a token.
// Reads count only if the policy is ReadsAndWrites. If the policy is PerShard, only requests for
// the same object count.
func (r *reader) highestToken(refused *trace.Event, policy storage.Policy) uint64 {
	forgotten := 0
	for _, ev := range r.ForgottenTokens() {
		if ev.Seq < refused.Seq {
			forgotten = ev.Seq
		}
	}
	highest := uint64(0)
	for _, ev := range r.ServedRequests() {
		counts := ev.Step == trace.Write || ev.Step == trace.Read && policy == storage.ReadsAndWrites
		isHere := ev.Process == refused.Process && (policy != storage.PerShard || ev.Object == refused.Object)
		if ev.OK && counts && isHere && forgotten < ev.Seq && ev.Seq < refused.Seq {
			highest = max(highest, ev.Token)
		}
	}
	return highest
}

// versionAt returns the number of the version that an event's object had when the event happened;
// 0 if the object had not been written.
func (r *reader) versionAt(at *trace.Event) int {
	number := 0
	for _, v := range r.Versions() {
		if v.Object == at.Object && v.Made.Seq < at.Seq {
			number = v.Number
		}
	}
	return number
}
