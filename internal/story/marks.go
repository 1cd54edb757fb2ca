package story

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A Mark points out an important moment of a timeline: a fault strikes or ends, a witness
// is observed, or a property is violated.
type Mark struct {
	Seq  int // the number of the event
	At   time.Duration
	Sign Sign
	Mood Mood
	Text Raw
}

// A Sign is a character in the margin of a timeline.
type Sign string

const (
	Noteworthy Sign = "▸"
	Broken     Sign = "✗"
)

// MarksOf returns the important moments of a run, in order.
func MarksOf(h *history.History, v *checks.Verdict, witnesses []trace.Witness) []Mark {
	var marks []Mark
	add := func(ev *trace.Event, sign Sign, m Mood, format string, args ...any) {
		marks = append(marks, Mark{ev.Seq, ev.At, sign, m, Raw(fmt.Sprintf(format, args...))})
	}
	for _, a := range h.Acts() {
		text := a.Struck.Text
		if a.Instant {
			add(a.Struck, Noteworthy, FaultMood, "fault %d: %s", a.Fault, text)
		} else {
			add(a.Struck, Noteworthy, FaultMood, "fault %d begins: %s", a.Fault, text)
		}
		if a.Lifted != nil {
			add(a.Lifted, Noteworthy, FaultMood, "fault %d ends", a.Fault)
		}
	}
	for _, w := range witnesses {
		if seq, seen := history.SeenAt(w, h.Trace); seen {
			add(h.Event(seq), Noteworthy, PlainMood, "witness: %s", w.String())
		}
	}
	breaks := map[int][]checks.Property{} // by the event at which they are violated
	for _, f := range v.Findings {
		if f.Outcome == checks.Violated {
			breaks[f.At] = append(breaks[f.At], f.Property)
		}
	}
	for seq, properties := range breaks {
		if ev := h.Event(seq); ev != nil {
			add(ev, Broken, WrongMood, "violates %s", List(properties))
		}
	}
	slices.SortStableFunc(marks, func(a, b Mark) int { return a.Seq - b.Seq })
	return marks
}

// Marked attaches each mark to the clause that describes the mark's event. If no clause
// does, the mark gets a clause of its own.
func Marked(clauses []Clause, marks []Mark) []Clause {
	clauses = slices.Clone(clauses)
	for _, m := range marks {
		i := slices.IndexFunc(clauses, func(c Clause) bool { return c.First <= m.Seq && m.Seq <= c.Last })
		if i < 0 {
			after := slices.IndexFunc(clauses, func(c Clause) bool { return c.First > m.Seq })
			if after < 0 {
				after = len(clauses)
			}
			clauses = slices.Insert(clauses, after, Clause{At: m.At, Mood: m.Mood, Predicate: m.Text, Sign: m.Sign, First: m.Seq, Last: m.Seq})
			continue
		}
		c := &clauses[i]
		if m.Sign == Broken || c.Sign == "" {
			c.Sign = m.Sign
		}
		if c.Part != FaultStrikes { // a clause about a fault already says what the mark says
			c.Marks = append(slices.Clone(c.Marks), m)
		}
	}
	return clauses
}
