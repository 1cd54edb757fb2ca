package checks

import (
	"slices"
	"sort"

	"github.com/locksim/locksim/history"
)

// NoLostUpdate is violated when an acknowledged write is missing. It is also violated when an
// applied update replaced a version other than the one that its critical section had read: c1 and
// c2 read version 1, c1 writes version 2, and c2 replaces version 2 without having read it. A write
// is an update if its section had read the object before, or knew it from an acknowledged write of
// its own. A version that the section itself had written does not count as another version. An
// acknowledged write is missing if the object later shows an older version, or the same version
// number with the result of another write. A write is blind if its section had not asked to read
// the object. A blind write violates the property only if it is missing.
const NoLostUpdate Property = "no-lost-update"

var noLostUpdate = property{
	Card: Card{
		Property: NoLostUpdate, Subject: SubjectData, Gravity: 1,
		Title:  "no update is lost: each replaces the version that its section had read, and no acknowledged update disappears",
		Broken: "an update is lost",
		Label:  "data", Meaning: "the stored data is wrong",
	},
	judge: judgeNoLostUpdate,
}

func judgeNoLostUpdate(h *judgedRun) Finding {
	return worse(staleUpdate(h), missingWrite(h))
}

// staleUpdate finds the first update that was computed from one version and replaced another.
func staleUpdate(h *judgedRun) Finding {
	for _, v := range h.Versions() {
		read := v.By.KnownVersion(v.Object, v.Issued)
		if read == nil || v.Blind {
			continue
		}
		replaced := v.Replaced
		for replaced != read && replaced.By == v.By && replaced.Issued < v.Issued {
			replaced = replaced.Replaced
		}
		if replaced == read {
			continue
		}
		f := Finding{
			Outcome: Violated, At: v.Made.Seq, Events: []int{v.Made.Seq},
			Reason: computedFromStale.Reason(h.Name(v.By), v.Made.At, read.String(), v.Replaced.String()),
		}
		if lost := v.Replaced; lost.Made != nil {
			f.Events = []int{lost.Made.Seq, v.Made.Seq}
			f.Reason = f.Reason.And(updateLost.Reason(h.Name(lost.By), lost.Made.At))
		}
		return f
	}
	return holds()
}

// missingWrite finds the first acknowledged write that was seen to be missing.
func missingWrite(h *judgedRun) Finding {
	found := holds()
	all := observationsByObject(h.Observations())
	for _, v := range h.Versions() {
		if v.Acked == nil {
			continue
		}
		s := all[v.Object].firstMissing(v)
		if s == nil {
			continue
		}
		f := Finding{Outcome: Violated, At: max(s.Event.Seq, v.Acked.Seq)}
		f.Events = []int{v.Made.Seq, v.Acked.Seq, s.Event.Seq}
		slices.Sort(f.Events)
		f.Reason = writeMissing.Reason(h.Name(v.By), v.Acked.At, v.String(), s.Event.At, v.Object, s.Verb, s.Number)
		if s.Number == v.Number {
			f.Reason = f.Reason.And(otherWrite.Reason())
		}
		found = worse(found, f)
	}
	return found
}

// objectObservations are the observations of one object, in order.
type objectObservations struct {
	all []history.Observation
	// nextLower is, for each observation, the index of the next observation with a lower version
	// number.
	nextLower []int
	// byNumber has the indices of the observations of each version number.
	byNumber map[int][]int
}

// observationsByObject groups observations by their objects.
func observationsByObject(all []history.Observation) map[string]*objectObservations {
	byObject := map[string]*objectObservations{}
	for _, s := range all {
		object := byObject[s.Object]
		if object == nil {
			object = &objectObservations{byNumber: map[int][]int{}}
			byObject[s.Object] = object
		}
		object.byNumber[s.Number] = append(object.byNumber[s.Number], len(object.all))
		object.all = append(object.all, s)
	}
	for _, object := range byObject {
		object.nextLower = make([]int, len(object.all))
		for i := len(object.all) - 1; i >= 0; i-- {
			next := i + 1
			for next < len(object.all) && object.all[next].Number >= object.all[i].Number {
				next = object.nextLower[next]
			}
			object.nextLower[i] = next
		}
	}
	return byObject
}

// firstMissing returns the first observation that shows that a write is missing: after the write's
// version was made, the object had an older version, or the same number with the result of another
// write. It returns nil if there is none.
func (s *objectObservations) firstMissing(v *history.Version) *history.Observation {
	if s == nil {
		return nil
	}
	since := sort.Search(len(s.all), func(i int) bool { return s.all[i].Event.Seq > v.Made.Seq })
	first := since
	for first < len(s.all) && s.all[first].Number >= v.Number {
		first = s.nextLower[first]
	}
	same := s.byNumber[v.Number]
	for _, i := range same[sort.SearchInts(same, since):] {
		if i >= first {
			break
		}
		if s.all[i].IsOtherWrite(v) {
			return &s.all[i]
		}
	}
	if first < len(s.all) {
		return &s.all[first]
	}
	return nil
}
