package reports

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// A mark names a moment of a timeline that matters: a fault strikes or ends, a
// witness is seen, a property breaks.
type mark struct {
	seq  int // of the event
	at   time.Duration
	sign string
	mood mood
	text string
}

// The signs in the margin.
const (
	noteworthy = "▸"
	broken     = "✗"
)

// marksOf are the moments of a run that matter, in order.
func marksOf(run scenarios.Outcome) []mark {
	var marks []mark
	h := run.History
	add := func(ev *trace.Event, sign string, m mood, format string, args ...any) {
		marks = append(marks, mark{ev.Seq, ev.At, sign, m, fmt.Sprintf(format, args...)})
	}
	for _, a := range h.Acts() {
		what := visible(a.Struck.Text)
		if a.Instant {
			add(a.Struck, noteworthy, fault, "fault %d: %s", a.Fault, what)
		} else {
			add(a.Struck, noteworthy, fault, "fault %d begins: %s", a.Fault, what)
		}
		if a.Lifted != nil {
			add(a.Lifted, noteworthy, fault, "fault %d is over", a.Fault)
		}
	}
	for _, w := range run.Variant.Witnesses {
		if seq, seen := history.Reached(w, h.Trace); seen {
			add(h.Event(seq), noteworthy, plain, "witness: %s", visible(w.String()))
		}
	}
	breaks := map[int][]checks.Property{} // by the event with which they break
	for _, f := range run.Verdict.Findings {
		if f.Outcome == checks.Violated {
			breaks[f.At] = append(breaks[f.At], f.Property)
		}
	}
	for seq, properties := range breaks {
		if ev := h.Event(seq); ev != nil {
			add(ev, broken, wrong, "breaks %s", names(properties))
		}
	}
	slices.SortStableFunc(marks, func(a, b mark) int { return a.seq - b.seq })
	return marks
}

// marked puts marks on the entries that tell their events. A moment of which no
// entry tells gets one of its own.
func marked(entries []entry, marks []mark) []entry {
	entries = slices.Clone(entries)
	for _, m := range marks {
		i := slices.IndexFunc(entries, func(e entry) bool { return e.first <= m.seq && m.seq <= e.last })
		if i < 0 {
			after := slices.IndexFunc(entries, func(e entry) bool { return e.first > m.seq })
			if after < 0 {
				after = len(entries)
			}
			entries = slices.Insert(entries, after, entry{at: m.at, mood: m.mood, text: m.text, sign: m.sign, first: m.seq, last: m.seq})
			continue
		}
		e := &entries[i]
		if m.sign == broken || e.sign == "" {
			e.sign = m.sign
		}
		if e.part != strikes { // else it says so itself
			e.marks = append(slices.Clone(e.marks), m)
		}
	}
	return entries
}

var signMoods = map[string]mood{noteworthy: fault, broken: wrong}
