package reports

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/internal/rundiff"
	"github.com/locksim/locksim/internal/story"
)

// The greatest number of steps of each run that a comparison shows after the steps that are equal.
// With messages there are more steps.
const (
	maxDiffSteps    = 300
	maxDiffMessages = 2000
)

// diffSteps are the steps of two runs that are compared.
type diffSteps struct {
	// common are the steps at the beginning that are equal in both runs, and events is the
	// number of equal events at the beginning.
	common []story.Clause
	events int
	// rows are the steps after these. omitted counts the further steps of each run.
	rows    []rundiff.Row
	omitted [2]int

	messages  bool
	allEvents bool // all events are equal
}

// newDiffSteps returns the steps of the runs of a comparison.
func newDiffSteps(d *rundiff.Diff, messages bool) diffSteps {
	left, right := d.Steps(messages)
	n := rundiff.CommonSteps(left, right)
	s := diffSteps{common: left[:n], events: d.CommonEvents(), messages: messages}
	s.allEvents = s.events == d.Left.Run().History.EventCount() && s.events == d.Right.Run().History.EventCount()
	most := maxDiffSteps
	if messages {
		most = maxDiffMessages
	}
	rest := [2][]story.Clause{left[n:], right[n:]}
	for i := range rest {
		if s.omitted[i] = max(0, len(rest[i])-most); s.omitted[i] > 0 {
			rest[i] = rest[i][:most]
		}
	}
	s.rows = rundiff.Align(rest[0], rest[1])
	return s
}

// commonPart says how much of the runs is the same.
func (s diffSteps) commonPart() string {
	switch {
	case s.allEvents:
		return fmt.Sprintf("They do not part: all %s are the same.", story.Count(s.events, "event"))
	case len(s.rows) == 0 && s.messages:
		return fmt.Sprintf("All %s are the same. The runs differ in details that no step shows, from event %d on.", story.Count(len(s.common), "step"), s.events+1)
	case len(s.rows) == 0:
		return fmt.Sprintf("All %s are the same. The runs differ only in their messages, from event %d on; --messages shows them.", story.Count(len(s.common), "step"), s.events+1)
	case len(s.common) == 0:
		return "The runs differ from the first step on."
	}
	n := len(s.common)
	return fmt.Sprintf("The first %s, up to %s, %s the same, and so are the first %s.", story.Count(n, "step"), story.Moment(s.common[n-1].End(), 3), isOrAre(n), story.Count(s.events, "event"))
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// The signs between two steps that are not the same.
const (
	differSign    = "|"
	leftOnlySign  = "<"
	rightOnlySign = ">"
)

// signOf returns the sign between the steps of a row; "" if they are the same.
func signOf(r rundiff.Row) string {
	switch {
	case r.Right == nil:
		return leftOnlySign
	case r.Left == nil:
		return rightOnlySign
	case !r.IsSame():
		return differSign
	}
	return ""
}

// table returns a table with a row for each step after the common ones.
func (s diffSteps) table(labels [2]string) table {
	out := table{wraps: true, Heads: heads("time", labels[0], "", "time", labels[1])}
	for _, r := range s.rows {
		leftTime, left := s.cells(r.Left)
		rightTime, right := s.cells(r.Right)
		out.add(leftTime, left, tableCell{{Text: signOf(r), Tone: strong}}, rightTime, right)
	}
	if out.empty() {
		return table{}
	}
	return out
}

// cells returns the time and the text of a step. They are empty if there is none.
func (s diffSteps) cells(step *story.Clause) (at, text tableCell) {
	if step == nil {
		return plainCell(""), plainCell("")
	}
	decimals := 3
	if s.messages {
		decimals = 6
	}
	return plainCell(story.Moment(step.At, decimals)), tableCell{{Text: stepText(step), Tone: step.Mood.Class()}}
}

// stepText returns a step as one text.
func stepText(c *story.Clause) string {
	subject, predicate := c.Subject.String(), c.Predicate.String()
	switch {
	case subject == "":
		return predicate
	case c.IsAboutPossession:
		return subject + ": " + predicate
	}
	return subject + " " + predicate
}

// legend explains the signs of the table, and says what it leaves out.
func (s diffSteps) legend() string {
	if len(s.rows) == 0 {
		return ""
	}
	found := map[string]bool{}
	for _, r := range s.rows {
		found[signOf(r)] = true
	}
	var words []string
	for _, sign := range []struct{ sign, meaning string }{
		{differSign, differSign + " the step differs"},
		{leftOnlySign, leftOnlySign + " only the left run has it"},
		{rightOnlySign, rightOnlySign + " only the right run has it"},
		{"", "no sign: the step is the same, but its time can differ"},
	} {
		if found[sign.sign] {
			words = append(words, sign.meaning)
		}
	}
	text := "The signs: " + strings.Join(words, "; ") + "."
	if len(found) == 1 && found[""] {
		text = "The steps are the same, but their times differ."
	}
	if s.omitted != [2]int{} {
		text += fmt.Sprintf(" Left out at the end: %s of the left run, %d of the right one.", story.Count(s.omitted[0], "step"), s.omitted[1])
	}
	return text
}
