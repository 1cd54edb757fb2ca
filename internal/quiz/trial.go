package quiz

import "fmt"

// A trial is a variation of a question's run, to try after the question. Asks says what to
// find out with it.
type trial struct {
	Asks string `yaml:"asks"`
	run  `yaml:",inline"`
	// Changes says whether the variation has another answer than the question's run. If the
	// question compares several runs, the variation is compared with the first of them. A test
	// checks Changes.
	Changes bool `yaml:"changes"`
}

// command returns the command that runs the variation.
func (t trial) command() (string, error) {
	s, err := t.open()
	if err != nil {
		return "", err
	}
	return replayCommand(s, t.Lock, t.Scenario), nil
}

// Try runs the variation. It returns what the run of the question shows (before) and what the
// variation shows (after), in the same form of words. If the question compares several runs, it
// takes the first of them. If the form does not apply to the variation, Try compares the verdicts.
func (it *Item) Try() (before, after string, err error) {
	var shown [2]string
	var cases []*Case
	for _, r := range []run{it.runs()[0], it.Variation.run} {
		s, err := r.open()
		if err != nil {
			return "", "", err
		}
		c, err := RunCase(s, r.Lock)
		if err != nil {
			return "", "", err
		}
		if !c.isDecided() {
			return "", "", fmt.Errorf("quiz: %s: a run of %s is inconclusive", it.Name, s.Name)
		}
		cases = append(cases, c)
	}
	show := it.show
	if show(cases[0]) == "" || show(cases[1]) == "" {
		show = func(c *Case) string { return verdictForm.Ask(c).answerText() }
	}
	for i, c := range cases {
		shown[i] = show(c)
	}
	return shown[0], shown[1], nil
}

// show returns, in words, the answer of a case to the question; "" if the form does not apply
// to the case.
func (it *Item) show(c *Case) string {
	switch it.Form {
	case whichFormName:
		if it.Which.applies(c) {
			return it.Which.name() + ": yes"
		}
		return it.Which.name() + ": no"
	case compareFormName, measureFormName:
		f, ok := it.Figure.of(c)
		if !ok {
			return ""
		}
		return estimateOf(f).answer()
	}
	form, _ := findForm(it.Form)
	if q := form.Ask(c); q != nil {
		return q.answerText()
	}
	return ""
}
