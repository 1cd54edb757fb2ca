package reports

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/locksim/locksim/internal/explore"
)

// MaxExplored is the maximum size, in bytes, of a search's result that locksim reads. A
// result with a hundred ways has a few hundred thousand.
const MaxExplored = 64 << 20

// ReadExplored reads the result of a search from the JSON that locksim explore wrote. The
// texts of scenarios are not part of that JSON. Unknown fields are ignored, because a later
// version may have written them.
func ReadExplored(data []byte) (*explore.Result, error) {
	const remedy = "; write one with locksim explore --format json -o FILE"
	if err := countObjects(data, maxObjects); err != nil {
		return nil, fmt.Errorf("not a result of locksim explore: %w%s", err, remedy)
	}
	var kind struct{ Schema string }
	if err := json.Unmarshal(data, &kind); err != nil {
		return nil, fmt.Errorf("not a result of locksim explore, because it is not a JSON object (%w)%s", err, remedy)
	}
	if kind.Schema != exploreSchema {
		return nil, fmt.Errorf("not a result of locksim explore: its schema is %q and not %q%s", kind.Schema, exploreSchema, remedy)
	}
	var doc jsonExplored
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("this result of locksim explore is damaged: %w%s", err, remedy)
	}
	if missing := doc.missing(); missing != "" {
		return nil, fmt.Errorf("this result of locksim explore contains no search: %s%s", missing, remedy)
	}
	if err := doc.check(); err != nil {
		return nil, fmt.Errorf("this result of locksim explore is damaged: %w%s", err, remedy)
	}
	return doc.result(), nil
}

// missing says why a document contains no search; "" if it contains one. Without this check
// an almost empty document would look as if nothing broke the lock. A document in which no
// world was tried is valid if it says why: the search was stopped, or no workload could be
// explored.
func (doc jsonExplored) missing() string {
	doubtful := func(b explore.BaseRecord) bool { return b.Doubt != "" }
	switch {
	case doc.Lock == "":
		return "it names no lock"
	case len(doc.Bases) == 0:
		return "it names no workload (bases)"
	case doc.Worlds <= 0 && doc.Stopped == "" && !slices.ContainsFunc(doc.Bases, doubtful):
		return "no world was tried (worlds)"
	}
	return ""
}

// check returns an error if the document has contradictions, so that it cannot be compared
// or reported.
func (doc jsonExplored) check() error {
	known := map[string]bool{}
	for list, ways := range [][]jsonWay{doc.Ways, doc.RanOn} {
		name := []string{"ways", "ran_on"}[list]
		for i, w := range ways {
			switch {
			case w.ID == "":
				return fmt.Errorf("%s[%d] has no id", name, i)
			case known[name+w.ID]:
				return fmt.Errorf("%s[%d]: the id %q occurs twice", name, i, w.ID)
			}
			known[name+w.ID] = true
			for j, f := range w.Example.Faults {
				if _, err := f.fault(); err != nil {
					return fmt.Errorf("%s[%d].example.faults[%d]: %w", name, i, j, err)
				}
			}
		}
	}
	for i, m := range doc.Maps {
		if len(m.Cells) != len(m.Starts) {
			return fmt.Errorf("maps[%d] has %d starts and %d rows of cells", i, len(m.Starts), len(m.Cells))
		}
		for j, row := range m.Cells {
			if len(row) != len(m.LengthsNS) {
				return fmt.Errorf("maps[%d].cells[%d] has %d cells for %d lengths", i, j, len(row), len(m.LengthsNS))
			}
		}
	}
	return nil
}

// result converts the document to the type of the search.
func (doc jsonExplored) result() *explore.Result {
	r := &explore.Result{
		Lock: doc.Lock, Bases: doc.Bases, Nodes: doc.Nodes, TTL: doc.TTLNS, Seed: doc.Seed, MaxFaults: doc.MaxFaults, Budget: doc.Budget, Kinds: doc.Kinds, Quick: doc.Quick,
		Worlds: doc.Worlds, Parts: doc.Parts, First: doc.First, Stopped: doc.Stopped,
		Lengths: doc.LengthsNS, Rates: doc.RatesPPB, Takeover: doc.TakeoverNS,
	}
	for _, l := range doc.Levels {
		r.Levels = append(r.Levels, l.level())
	}
	if doc.Run == 0 {
		completeCounts(r)
	}
	for _, w := range doc.Ways {
		r.Ways = append(r.Ways, w.way())
	}
	for _, w := range doc.RanOn {
		r.RanOn = append(r.RanOn, w.way())
	}
	for _, m := range doc.Maps {
		r.Maps = append(r.Maps, explore.DangerMap{
			Base: m.Base, Client: m.Client, Fencing: m.Fencing, Lengths: m.LengthsNS, Starts: m.Starts, Cells: m.Cells,
		})
	}
	return r
}

// completeCounts fills in counts that documents of older versions lack. Those versions
// counted a set of faults once for each world that has it, and did not say how many worlds
// that were.
func completeCounts(r *explore.Result) {
	r.Parts = r.Worlds
	for i := range r.Levels {
		level := &r.Levels[i]
		r.Parts = max(r.Parts-int(level.Tried), 0)
		if level.Faults > 1 && level.Tried > 0 {
			level.Duplicates, level.Estimated = level.Tried-min(level.Tried, level.Space), true
		}
	}
}
