package checks

import (
	"slices"
)

// NoLostUpdate is violated when an applied update replaced another version than
// the one its section read, or when an acknowledged write is missing. A write is
// an update if its section had read the object, or knew it from a write of its
// own; what the section itself had sent before does not count as another
// version. An acknowledged write is missing when the object later shows an older
// version, or the same version as somebody else wrote it. For blind writes, those
// of a section that had not asked to read the object, only the second counts.
const NoLostUpdate Property = "no-lost-update"

var noLostUpdate = property{
	name:  NoLostUpdate,
	title: "no update is lost: each replaces what its section had read, and none goes missing",
	data:  true,
	judge: judgeNoLostUpdate,
}

func judgeNoLostUpdate(h *inquiry) Finding {
	return worse(staleUpdate(h), missingWrite(h))
}

// staleUpdate finds the first update that was computed from another version
// than the one it replaced.
func staleUpdate(h *inquiry) Finding {
	for _, v := range h.Versions() {
		read := v.By.Knew(v.Object, v.Issued)
		if read == nil || v.Blind {
			continue
		}
		was := v.Replaced
		for was != read && was.By == v.By && was.Issued < v.Issued {
			was = was.Replaced
		}
		if was == read {
			continue
		}
		f := Finding{
			Outcome: Violated, At: v.Made.Seq, Events: []int{v.Made.Seq},
			Reason: Because(ComputedFromStale, h.Name(v.By), v.Made.At, read.String(), v.Replaced.String()),
		}
		if lost := v.Replaced; lost.Made != nil {
			f.Events = []int{lost.Made.Seq, v.Made.Seq}
			f.Reason = f.Reason.And(UpdateLost, h.Name(lost.By), lost.Made.At)
		}
		return f
	}
	return holds()
}

// missingWrite finds the first acknowledged write that was seen to be gone.
func missingWrite(h *inquiry) Finding {
	found := holds()
	for _, v := range h.Versions() {
		if v.Acked == nil {
			continue
		}
		for _, s := range h.Sights() {
			if s.Event.Seq < v.Made.Seq || s.Object != v.Object || s.Event == v.Made {
				continue
			}
			if s.Number > v.Number || s.Number == v.Number && !s.Other(v) {
				continue
			}
			f := Finding{Outcome: Violated, At: max(s.Event.Seq, v.Acked.Seq)}
			f.Events = []int{v.Made.Seq, v.Acked.Seq, s.Event.Seq}
			slices.Sort(f.Events)
			f.Reason = Because(WriteMissing,
				h.Name(v.By), v.Acked.At, v.String(), s.Event.At, v.Object, s.Verb, s.Number)
			if s.Number == v.Number {
				f.Reason = f.Reason.And(OfSomebodyElse)
			}
			found = worse(found, f)
			break
		}
	}
	return found
}
