package checks

import (
	"fmt"
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

func judgeNoLostUpdate(h *history) Finding {
	return worse(staleUpdate(h), missingWrite(h))
}

// staleUpdate finds the first update that was computed from another version
// than the one it replaced.
func staleUpdate(h *history) Finding {
	for _, v := range h.versions {
		read := v.by.knew(v.object, v.issued)
		if read == nil || v.blind {
			continue
		}
		was := v.replaced
		for was != read && was.by == v.by && was.issued < v.issued {
			was = was.replaced
		}
		if was == read {
			continue
		}
		f := Finding{
			Outcome: Violated, At: v.made.Seq, Events: []int{v.made.Seq},
			Reason: fmt.Sprintf("%s's write at %v was computed from %v, but replaced %v",
				h.name(v.by), v.made.At, read, v.replaced),
		}
		if lost := v.replaced; lost.made != nil {
			f.Events = []int{lost.made.Seq, v.made.Seq}
			f.Reason += fmt.Sprintf(": the update that %s made at %v is lost", h.name(lost.by), lost.made.At)
		}
		return f
	}
	return holds()
}

// missingWrite finds the first acknowledged write that was seen to be gone.
func missingWrite(h *history) Finding {
	found := holds()
	for _, v := range h.versions {
		if v.acked == nil {
			continue
		}
		for _, s := range h.shown {
			if s.ev.Seq < v.made.Seq || s.object != v.object || s.ev == v.made {
				continue
			}
			if s.number > v.number || s.number == v.number && !s.other(v) {
				continue
			}
			f := Finding{Outcome: Violated, At: max(s.ev.Seq, v.acked.Seq)}
			f.Events = []int{v.made.Seq, v.acked.Seq, s.ev.Seq}
			slices.Sort(f.Events)
			f.Reason = fmt.Sprintf("%s was told at %v that it had written %v, but at %v %s %s version %d",
				h.name(v.by), v.acked.At, v, s.ev.At, v.object, s.verb, s.number)
			if s.number == v.number {
				f.Reason += " of somebody else"
			}
			found = worse(found, f)
			break
		}
	}
	return found
}
