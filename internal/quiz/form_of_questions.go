package quiz

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/scenarios"
)

// The forms of this file are only for the questions of questions.yaml, because they need to
// know what to look for: a measure, or a property of several runs.
const (
	measureFormName = "measure"
	compareFormName = "compare"
	whichFormName   = "which"
)

// A criterion is what a run can be or violate: its verdict, or one property.
type criterion struct {
	Fencing  string          `yaml:"fencing"`
	Verdict  string          `yaml:"verdict"`
	Violates checks.Property `yaml:"violates"`
}

// run returns the run of a case that a criterion is about.
func (w criterion) run(c *Case) scenarios.RunResult {
	if w.Fencing == scenarios.On {
		return c.On
	}
	return c.Off
}

// applies reports whether a case meets the criterion.
func (w criterion) applies(c *Case) bool {
	run := w.run(c)
	if w.Violates != "" {
		return run.Verdict.Finding(w.Violates).Outcome == checks.Violated
	}
	return run.Verdict.Verdict == w.Verdict
}

// name names what a run has that meets the criterion.
func (w criterion) name() string {
	if w.Violates != "" {
		return string(w.Violates) + " is violated"
	}
	return "the data is " + w.Verdict
}

// text asks for the runs that meet the criterion.
func (w criterion) text() string {
	tokens := "without fencing tokens"
	if w.Fencing == scenarios.On {
		tokens = "with fencing tokens"
	}
	if w.Violates != "" {
		return fmt.Sprintf("In which of these runs %s is %s violated (%s)? Name all of them, or none.", tokens, w.Violates, w.Violates.Card().Broken)
	}
	return fmt.Sprintf("In which of these runs %s is the data %s? Name all of them, or none.", tokens, w.Verdict)
}

// askWhich asks which cases meet a criterion. labels describe the cases.
func askWhich(w criterion, labels []string, cases []*Case) *Question {
	q := &Question{Form: whichFormName, Text: w.text(), IsSet: true}
	for i, c := range cases {
		q.Choices = append(q.Choices, Choice{Text: labels[i], IsRight: w.applies(c)})
	}
	return q
}

// A figureName names a figure of a measure, and says how to ask for it.
type figureName struct {
	Measure string `yaml:"name"`
	Figure  string `yaml:"figure"`
	Text    string `yaml:"text"`
	Most    bool   `yaml:"most"`
}

// of returns the figure of a case, in the run without fencing tokens.
func (n figureName) of(c *Case) (checks.Figure, bool) {
	for _, m := range c.Off.Measures {
		if i := slices.IndexFunc(m.Figures, func(f checks.Figure) bool { return f.Name == n.Figure }); m.Name == n.Measure && i >= 0 {
			return m.Figures[i], true
		}
	}
	return checks.Figure{}, false
}

// askMeasure asks for a figure of a case. A forecast may be a fifth off.
func askMeasure(n figureName, c *Case) *Question {
	f, ok := n.of(c)
	if !ok {
		return nil
	}
	return &Question{Form: measureFormName, Text: textwrap.OneLine(n.Text), Estimate: estimateOf(f)}
}

// estimateOf returns a figure as an estimate.
func estimateOf(f checks.Figure) *Estimate {
	e := &Estimate{Unit: Numbers, Value: time.Duration(f.Value), Rule: "off by at most a fifth"}
	if f.Unit == checks.Nanoseconds {
		e.Unit = Times
	}
	e.Tolerance = e.Value / 5
	return e
}

// askCompare asks which case has the smallest or largest figure. Figures that differ by less
// than a tenth are equal.
func askCompare(n figureName, labels []string, cases []*Case) *Question {
	q := &Question{Form: compareFormName, Text: textwrap.OneLine(n.Text)}
	var values []int64
	for _, c := range cases {
		f, ok := n.of(c)
		if !ok {
			return nil
		}
		values = append(values, f.Value)
	}
	best := 0
	for i, v := range values {
		if n.Most == (v > values[best]) && v != values[best] {
			best = i
		}
	}
	near := 0
	for i, c := range cases {
		if 10*abs(values[i]-values[best]) <= max(values[i], values[best]) {
			near++
		}
		f, _ := n.of(c)
		q.Choices = append(q.Choices, Choice{Text: labels[i], IsRight: i == best})
		if i > 0 {
			q.Reason += "; "
		}
		q.Reason += labels[i] + ": " + estimateOf(f).answer()
	}
	q.Reason += "."
	isTied := near == len(cases)
	switch {
	case isTied:
		q.Choices[best].IsRight = false
	case near > 1:
		return nil // no case is clearly the best
	}
	q.Choices = append(q.Choices, Choice{Text: "they are about equal, within a tenth", IsRight: isTied})
	return q
}

func abs(n int64) int64 { return max(n, -n) }
