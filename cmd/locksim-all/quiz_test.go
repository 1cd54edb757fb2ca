package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/quiz"
	"github.com/locksim/locksim/internal/setting"
	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/scenarios"
)

// caseOf returns the case of a variant of a built-in scenario, from the runs that the other
// tests use as well.
func caseOf(t *testing.T, s *scenarios.Scenario, v *scenarios.Variant) *quiz.Case {
	t.Helper()
	result, err := suites.ResultOf(s)
	if err != nil {
		t.Fatal(err)
	}
	one, err := s.SelectVariant(v.Name)
	if v.Name == "" {
		one, err = s, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	c := &quiz.Case{Scenario: one}
	for _, run := range result.Runs {
		switch {
		case run.Variant.Name != v.Name: // the result can be of another copy of the scenario
		case run.Fencing == scenarios.Off:
			c.Off = run
		default:
			c.On = run
		}
	}
	return c
}

// Each form applies to many scenarios, and each has a right answer, which is among the choices
// and does not stand in the question. The numbers say to how many variants a form applies. They
// change with the catalogue; a large change shows that a form has become too narrow or too wide.
func TestFormsOfTheCatalogue(t *testing.T) {
	if testing.Short() {
		t.Skip("the test asks each question about each variant of the catalogue")
	}
	applies := map[string]int{}
	answers := map[string]map[string]int{}
	for _, s := range scenarios.Embedded() {
		for _, v := range s.Variants {
			c := caseOf(t, s, v)
			for _, f := range quiz.Forms() {
				q := f.Ask(c)
				if q == nil {
					continue
				}
				applies[f.Name]++
				if answers[f.Name] == nil {
					answers[f.Name] = map[string]int{}
				}
				name := s.Name + " " + v.Name + ", " + f.Name
				answers[f.Name][checkQuestion(t, name, q)]++
				if again := f.Ask(c); again.Text != q.Text || again.Answer() != q.Answer() || len(again.Choices) != len(q.Choices) {
					t.Errorf("%s: the form asks %q, and then %q", name, q.Text, again.Text)
				}
			}
		}
	}
	least := map[string]int{"safe": 400, "first-break": 400, "holder": 280, "next-grant": 280, "refusal": 200, "belief": 80}
	for _, f := range quiz.Forms() {
		if applies[f.Name] < least[f.Name] || least[f.Name] == 0 {
			t.Errorf("the form %s applies to %d variants, want at least %d", f.Name, applies[f.Name], least[f.Name])
		}
		for answer, n := range answers[f.Name] {
			if answer != "" && n*10 > applies[f.Name]*7 {
				t.Errorf("%s: the answer is %q in %d of %d cases, so nobody has to think", f.Name, answer, n, applies[f.Name])
			}
		}
	}
	t.Logf("the forms apply to these numbers of variants: %v", applies)
}

// checkQuestion checks a question, and returns the text of its right answer; "" if that is a
// number.
func checkQuestion(t *testing.T, name string, q *quiz.Question) string {
	t.Helper()
	if q.Estimate != nil {
		if q.Estimate.IsNever == (q.Estimate.Value > 0) {
			t.Errorf("%s: the answer is both never and a number, or neither: %s", name, q.Estimate)
		}
		if text := q.Text + q.Terms + q.Estimate.Rule; strings.Contains(text, q.Answer()) && q.Answer() != "never" {
			t.Errorf("%s: the question %q contains its answer", name, text)
		}
		return ""
	}
	right, texts := "", []string{}
	for _, c := range q.Choices {
		if c.IsRight {
			if right != "" {
				t.Errorf("%s: there are two right answers: %s and %s", name, right, c.Text)
			}
			right = c.Text
		}
		if slices.Contains(texts, c.Text) {
			t.Errorf("%s: the choice %q is there twice", name, c.Text)
		}
		texts = append(texts, c.Text)
	}
	if right == "" || strings.Contains(q.Text+q.Terms, right) {
		t.Errorf("%s: the right answer is %q, and the question %q", name, right, q.Text)
	}
	if len(q.Choices) < 3 || len(q.Choices) > 12 {
		t.Errorf("%s: there are %d choices", name, len(q.Choices))
	}
	return right
}

// The setting of a question does not say how the clients fare: no fault and no work lasts until a
// client has achieved something, and nothing begins when a client is refused something.
func TestSettingsOfQuestionsGiveNothingAway(t *testing.T) {
	outcome := regexp.MustCompile(`\buntil\b|failed to acquire|was refused|client-2 (acquired|released|wrote)`)
	rows := 0
	for _, s := range scenarios.Embedded() {
		for _, v := range s.Variants {
			c := caseOf(t, s, v)
			if c.Off.History.Sections() == nil || c.Off.History.Sections()[0].Client == "client-2" {
				continue // what the first holder achieves is no secret
			}
			for _, row := range setting.DescribeForQuestion(c.Off, 1, func(time.Duration) bool { return false }) {
				rows++
				if found := outcome.FindString(string(row.Text)); found != "" && !hasIdleFault(c.Off, string(row.About)) {
					t.Errorf("%s %s: the setting of %s is %q", s.Name, v.Name, row.About, row.Text)
				}
			}
		}
	}
	if rows < 2500 {
		t.Errorf("only %d rows were checked", rows)
	}
}

// No time of a run in a setting would be graded as right. Times that the scenario itself names may
// be near the answer: a reader who uses them has to know why.
func TestSettingsOfQuestionsShowNoAnswer(t *testing.T) {
	length := regexp.MustCompile(`[0-9]+(\.[0-9]+)?(h|m|s|ms|µs)([0-9.]+(m|s|ms))*`)
	checked := 0
	for _, s := range scenarios.Embedded() {
		for _, v := range s.Variants {
			c := caseOf(t, s, v)
			for _, f := range quiz.Forms() {
				q := f.Ask(c)
				if q == nil || q.Estimate == nil || q.Estimate.IsNever {
					continue
				}
				checked++
				isAnswer := func(d time.Duration) bool { return (d - q.Estimate.Value).Abs() <= q.Estimate.Tolerance }
				var own strings.Builder
				for _, row := range setting.Describe(c.Off, 1) {
					own.WriteString(string(row.Text) + "\n")
				}
				for _, row := range setting.DescribeForQuestion(c.Off, 1, isAnswer) {
					for _, text := range length.FindAllString(string(row.Text), -1) {
						d, err := time.ParseDuration(text)
						if err != nil {
							t.Fatal(err)
						}
						if isAnswer(d) && !strings.Contains(own.String(), text) {
							t.Errorf("%s %s: the setting of %s is %q, and the answer %s", s.Name, v.Name, row.About, row.Text, q.Answer())
						}
					}
				}
			}
		}
	}
	if checked < 200 {
		t.Errorf("only %d settings were checked", checked)
	}
}

// hasIdleFault reports whether a row of a setting is about a fault that did not act in a run, so
// that the run has no times for it.
func hasIdleFault(run scenarios.RunResult, about string) bool {
	for i := range run.History.Trace.Faults {
		isIdle := !slices.ContainsFunc(run.History.Acts(), func(a *history.Act) bool { return a.Fault == i+1 })
		if isIdle && about == "fault "+strconv.Itoa(i+1) {
			return true
		}
	}
	return false
}

// Each question of questions.yaml has a run that answers it, and a variation that changes the
// answer or not, as the question says.
func TestQuestionsHaveRuns(t *testing.T) {
	for _, topic := range quiz.Topics() {
		for _, item := range topic.Items {
			t.Run(item.Name, func(t *testing.T) {
				var out strings.Builder
				exercise := quiz.OfItem(item, topic)
				if err := (quiz.Sheet{Title: "x"}).Write(&out, []*quiz.Exercise{exercise}); err != nil {
					t.Fatal(err)
				}
				before, after, err := item.Try()
				if err != nil {
					t.Fatal(err)
				}
				if got := before != after; got != item.Variation.Changes {
					t.Errorf("the variation gives %q and the question's run %q, and changes is %v", after, before, item.Variation.Changes)
				}
			})
		}
	}
}

// Each question has all of its texts, and a name that no topic, no scenario and no other question
// has. The texts before the forecast contain no word for the result.
func TestQuestionsAreComplete(t *testing.T) {
	seen := scenarios.Names()
	spoilers := regexp.MustCompile(`(?i)\b(unsafe|lost update|is violated|overwrites|corrupts?)\b`)
	for _, topic := range quiz.Topics() {
		if topic.Name == "" || topic.Title == "" || slices.Contains(seen, topic.Name) {
			t.Errorf("the topic %q (%q) has no name or title, or its name is taken", topic.Name, topic.Title)
		}
		seen = append(seen, topic.Name)
		for _, item := range topic.Items {
			for what, text := range map[string]string{"name": item.Name, "title": item.Title, "ask": item.Ask, "form": item.Form, "interviewer": item.Interviewer, "followup": item.FollowUp, "trap": item.Trap, "try": item.Variation.Asks} {
				if strings.TrimSpace(text) == "" {
					t.Errorf("the question %s has no %s", item.Name, what)
				}
			}
			if slices.Contains(seen, item.Name) {
				t.Errorf("the name %s is taken", item.Name)
			}
			seen = append(seen, item.Name)
			if found := spoilers.FindString(item.Ask); found != "" && !item.IsMyth {
				t.Errorf("%s: %q gives the result away before the forecast", item.Name, found)
			}
			isJudged := strings.HasPrefix(item.Judgement, "No: ") || strings.HasPrefix(item.Judgement, "Half right: ")
			if isJudged != item.IsMyth {
				t.Errorf("%s: a myth has a judgement, and nothing else has one: %q", item.Name, item.Judgement)
			}
			if strings.Contains(item.Figure.Figure, " per ") {
				t.Errorf("%s: the figure %q is a rounded quotient; ask for a total", item.Name, item.Figure.Figure)
			}
			if !strings.HasSuffix(strings.TrimSpace(item.Title), "?") != item.IsMyth {
				t.Errorf("%s: a question ends with a question mark, and a myth does not: %q", item.Name, item.Title)
			}
			for _, text := range []string{item.Title, item.Ask, item.Interviewer, item.FollowUp, item.Trap, item.Variation.Asks, item.Why, item.Judgement} {
				for _, s := range sentences(text) {
					if n := len(strings.Fields(s)); n > mostWords {
						t.Errorf("%s: a sentence has %d words, and %d is the most: %.80s…", item.Name, n, mostWords, s)
					}
				}
				for _, f := range falseFriends {
					if found := f.phrase.FindString(text); found != "" {
						t.Errorf("%s: %q misleads readers; write %s", item.Name, found, f.advice)
					}
				}
			}
		}
	}
}

// A headingPattern matches the heading of one of the twelve questions, and partPattern a further
// question in its text.
var (
	headingPattern = regexp.MustCompile(`^## ([0-9]+)\. (.*)\n`)
	partPattern    = regexp.MustCompile(`(?s)\n\n\*(And [^*]*\?)\*`)
)

// docs/questions.md and questions.yaml have the same twelve questions with the same further
// questions, and the page links to the scenarios that answer them.
func TestTwelveQuestionsAreTheSame(t *testing.T) {
	page := read(t, "docs/questions.md")[0].text
	inPage, inFile := map[string][]string{}, map[string][]string{}
	for _, section := range regexp.MustCompile(`(?m)^## `).Split(page, -1)[1:] {
		m := headingPattern.FindStringSubmatch("## " + section)
		if m == nil {
			continue
		}
		inPage[m[1]] = []string{m[2]}
		for _, part := range partPattern.FindAllStringSubmatch(section, -1) {
			inPage[m[1]] = append(inPage[m[1]], strings.Join(strings.Fields(part[1]), " "))
		}
		for _, topic := range quiz.Topics() {
			for _, item := range topic.Items {
				if strconv.Itoa(item.Twelve) != m[1] {
					continue
				}
				inFile[m[1]] = append(inFile[m[1]], item.Title)
				for _, name := range item.Scenarios() {
					if !strings.Contains(section, name) {
						t.Errorf("question %s of docs/questions.md does not name the scenario %s, which answers %s", m[1], name, item.Name)
					}
				}
			}
		}
	}
	if len(inPage) != 12 {
		t.Errorf("docs/questions.md has %d questions", len(inPage))
	}
	for n, titles := range inPage {
		slices.Sort(titles)
		slices.Sort(inFile[n])
		if !slices.Equal(titles, inFile[n]) {
			t.Errorf("question %s is %q in docs/questions.md, and %q in questions.yaml", n, titles, inFile[n])
		}
	}
}
