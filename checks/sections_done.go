package checks

import (
	"time"
)

// sectionsDone measures how much work gets done: the number of completed critical sections (see
// [Progress]), in total and per minute of the run. Sections that are nested in each other count as
// one.
var sectionsDone = measure{
	name:     "sections",
	title:    "sections that ended with all their writes acknowledged",
	headline: []string{"per minute"},
	take:     takeSectionsDone,
}

func takeSectionsDone(h *judgedRun) Measure {
	var done int64
	for _, s := range h.Sections() {
		if s.Outer == nil && s.Completed() {
			done++
		}
	}
	m := Measure{
		Figures: []Figure{{"completed", Count, done}},
		Summary: plainValue.Reason(done),
	}
	if lasted := h.Trace.End(); lasted > 0 {
		rate := ratio(done*int64(time.Minute), int64(lasted))
		m.Figures = append(m.Figures, Figure{"per minute", Count, rate})
		m.Summary = m.Summary.And(perMinute.Reason(rate))
	}
	return m
}
