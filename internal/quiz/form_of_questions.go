package quiz

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/scenarios"
)

// Only questions.yaml can ask questions of these forms, because such a question must say what it
// asks about: a figure, a verdict or a property.
const (
	measureFormName = "measure"
	compareFormName = "compare"
	whichFormName   = "which"
)

// A criterion is a condition that a run can meet: it has a certain verdict, or violates a
// certain property.
type criterion struct {
	Fencing  string          `yaml:"fencing"`
	Verdict  string          `yaml:"verdict"`
	Violates checks.Property `yaml:"violates"`
}

// run returns the run of a case, without or with fencing, that the criterion is about.
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

// name says in words what is true of a run that meets the criterion.
func (w criterion) name() string {
	if w.Violates != "" {
		return string(w.Violates) + " is violated"
	}
	return "the data is " + w.Verdict
}

// text returns the text of the question: which runs meet the criterion?
func (w criterion) text() string {
	tokens := "without fencing tokens"
	if w.Fencing == scenarios.On {
		tokens = "with fencing tokens"
	}
	if w.Violates != "" {
		broken := w.Violates.Card().Broken
		if w.Violates == checks.Progress {
			broken = noProgress
		}
		return fmt.Sprintf("In which of these runs %s is %s violated (%s)? Name all of them, or none.", tokens, w.Violates, broken)
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

// A figureName names a figure (one number of a measure), and has the text of the question
// about it. Most says that the largest figure is asked for, not the smallest.
type figureName struct {
	Measure string `yaml:"name"`
	Figure  string `yaml:"figure"`
	Text    string `yaml:"text"`
	Most    bool   `yaml:"most"`
}

// of returns the value of the figure in the run of a case without fencing tokens.
func (n figureName) of(c *Case) (checks.Figure, bool) {
	for _, m := range c.Off.Measures {
		if i := slices.IndexFunc(m.Figures, func(f checks.Figure) bool { return f.Name == n.Figure }); m.Name == n.Measure && i >= 0 {
			return m.Figures[i], true
		}
	}
	return checks.Figure{}, false
}

// askMeasure asks for a figure of a case. An answer is right if it is off by at most a fifth.
// askMeasure returns nil if the case does not have the figure.
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

// askCompare asks which case has the smallest figure, or the largest if n.Most is set. labels
// describe the cases. The answer is a set, because a case is also right if its figure differs from
// the smallest (or largest) by at most a tenth. askCompare returns nil if a case does not have the
// figure.
func askCompare(n figureName, labels []string, cases []*Case) *Question {
	best := "smallest"
	if n.Most {
		best = "largest"
	}
	q := &Question{
		Form: compareFormName, IsSet: true,
		Text: textwrap.OneLine(n.Text) + " Name each one whose number differs by at most a tenth from the " + best + ".",
	}
	var values []int64
	var reasons []string
	for i, c := range cases {
		f, ok := n.of(c)
		if !ok {
			return nil
		}
		values = append(values, f.Value)
		reasons = append(reasons, labels[i]+": "+estimateOf(f).answer())
	}
	limit := slices.Min(values)
	if n.Most {
		limit = slices.Max(values)
	}
	for i, v := range values {
		q.Choices = append(q.Choices, Choice{Text: labels[i], IsRight: 10*max(v-limit, limit-v) <= max(v, limit)})
	}
	q.Reason = strings.Join(reasons, "; ") + "."
	return q
}
