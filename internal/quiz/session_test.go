package quiz

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/scenarios"
)

// gcPause returns the exercise about the scenario gc-pause.
func gcPause(t *testing.T) []*Exercise {
	t.Helper()
	s, err := scenarios.Open("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	all, err := OfScenario(s, "gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// runSession returns what a session writes for some lines of input.
func runSession(t *testing.T, o Options, exercises []*Exercise, lines ...string) string {
	t.Helper()
	var out strings.Builder
	o.Echo = true
	if err := Run(strings.NewReader(strings.Join(lines, "\n")), &out, exercises, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// wantInOrder fails the test unless a text contains the parts in the given order.
func wantInOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			t.Fatalf("%q is missing, or not in its place, in\n%s", part, text)
		}
		rest = after
	}
}

// All forecasts about a scenario are given before anything of its runs is shown.
func TestSessionAboutAScenario(t *testing.T) {
	got := runSession(t, Options{}, gcPause(t), "b 3", "a", "3", "", "30 2", "a 1")
	wantInOrder(t, got,
		"(1 of 5) Is the data safe", "b 3", "(2 of 5) Which property", "How sure are you?", "(3 of 5)", "(4 of 5)", "(5 of 5)",
		"(1 of 5) Right.", "your forecast  b unsafe without tokens, safe with them (certain)",
		"(2 of 5) Wrong.", "your forecast  a lease-exclusion", "the run        b section-exclusion",
		"(3 of 5) No forecast.", "(4 of 5) Right.", "the run        30.015s", "(5 of 5) Right.",
		"29.698s  client-1  its lease ends", "without fencing  unsafe.",
		"The lesson", "replay  locksim run gc-pause --seed 1",
		"Score", "3 right, 0 partly right, 1 wrong, 1 without a forecast; 6 points of 10",
		"certain: 1 of 2 forecasts right",
		"Look again at", "certain, and wrong: gc-pause: first-break", "no forecast: gc-pause: holder", "right, but a guess: gc-pause: refusal",
	)
	before, _, _ := strings.Cut(got, "(1 of 5) Right.")
	for _, leak := range []string{"30.015s", "29.698s", "The lesson", "is violated"} {
		if strings.Contains(before, leak) {
			t.Errorf("%q is shown before the last forecast", leak)
		}
	}
}

// An answer that cannot be read is asked for again, and the end of the input ends the session
// with the score so far.
func TestSessionWithBadAnswers(t *testing.T) {
	got := runSession(t, Options{}, gcPause(t), "z", "ab", "7", "?", "b", "9", "certainly", "2", "perhaps")
	wantInOrder(t, got,
		"Please answer with one letter from a to d.", "Please answer with one letter from a to d.", "Please answer with one letter from a to d.",
		"Safe means that", "How sure are you?", "Please answer with 1, 2 or 3.", "Please answer with 1, 2 or 3.",
		"(2 of 5)", "Please answer with one letter from a to f.", "(1 of 5) Right.", "Score", "1 right",
	)
	for _, lines := range [][]string{nil, {"q"}, {"nonsense", "more nonsense"}} {
		if got := runSession(t, Options{}, gcPause(t), lines...); !strings.Contains(got, "No forecast was given, so there is no score.") {
			t.Errorf("input %q: there is a score:\n%s", lines, got)
		}
	}
}

// A confidence can follow a letter without a space. If something else follows the forecast, the
// message says how to write a forecast and a confidence.
func TestSessionWithAForecastAndAConfidence(t *testing.T) {
	got := runSession(t, Options{}, gcPause(t), "a 4", "a b", "b3", "?", "b 2", "a 2", "30 4", "30 2", "a1")
	wantInOrder(t, got,
		"a 4", "letter from a to d, and then 1, 2 or 3 for how sure you",
		"a b", "letter from a to d, and then 1, 2 or 3 for how sure you",
		"b3", "(2 of 5)", "(4 of 5)", "30 4", "1, 2 or 3 for how sure you are.", "(5 of 5)",
		"(1 of 5) Right.", "(certain)", "(4 of 5) Right.", "(fairly sure)", "(5 of 5) Right.", "(a guess)",
	)
	set := &Question{IsSet: true, Choices: make([]Choice, 5)}
	if f, err := set.parseForecast("ace3"); err != nil || len(f.choices) != 3 || f.Confidence != Certain {
		t.Errorf("ace3 is read as %+v; error %v", f, err)
	}
	if f, err := set.parseForecast("a c, e"); err != nil || len(f.choices) != 3 || f.Confidence != 0 {
		t.Errorf("a c, e is read as %+v; error %v", f, err)
	}
	number := &Question{Estimate: &Estimate{Unit: Numbers}}
	if f, err := number.parseForecast("12 000 2"); err != nil || f.number.value != 12_000 || f.Confidence != FairlySure {
		t.Errorf("12 000 2 is read as %+v; error %v", f, err)
	}
}

// Somebody who quits when asked for a confidence has given no forecast, also by an interrupt.
func TestSessionThatIsQuitBeforeTheConfidence(t *testing.T) {
	const none = "No forecast was given, so there is no score."
	if got := runSession(t, Options{}, gcPause(t), "b", "q"); !strings.Contains(got, none) {
		t.Errorf("after q there is a score:\n%s", got)
	}
	if got := runSession(t, Options{IsInterrupted: func() bool { return true }}, gcPause(t), "b\n"); !strings.Contains(got, none) {
		t.Errorf("after an interrupt there is a score:\n%s", got)
	}
}

// The title of a question is what somebody asks or says, and the forecast is about a run. The
// terms of two words are explained, and a set says how to answer.
func TestSessionAboutAQuestion(t *testing.T) {
	item, topic, ok := FindItem("what-to-alert-on")
	if !ok {
		t.Fatal("there is no such question")
	}
	got := runSession(t, Options{}, []*Exercise{OfItem(item, topic)}, "q")
	wantInOrder(t, got, "An interviewer asks:", "What do you alert on?", "What you forecast: ")
	item, topic, _ = FindItem("nodes-that-forget")
	got = runSession(t, Options{}, []*Exercise{OfItem(item, topic)}, "?", "q")
	wantInOrder(t, got, "What you forecast: ", "Answer with the letters of all right answers, such as ad, or the word none.", "fencing token", "a number that grows with each grant")
}

// A program that answers without end does not keep a session alive, and a line without an end is
// refused. A forecast without a confidence is a guess.
func TestSessionWithEndlessInput(t *testing.T) {
	for _, o := range []Options{{}, {Instructor: true}} {
		got := runSession(t, o, gcPause(t), strings.Repeat("z\n", 100))
		wantInOrder(t, got, "Please answer with", "20 answers could not be read, so the session ends.")
	}
	var out strings.Builder
	err := Run(strings.NewReader(strings.Repeat("z", 10_000)), &out, gcPause(t), Options{Echo: true})
	if err == nil || !strings.Contains(err.Error(), "longer than 4096 bytes") {
		t.Errorf("a line of 10,000 bytes: the error is %v", err)
	}
	wantInOrder(t, runSession(t, Options{}, gcPause(t), "b"), "(1 of 5) Right.", "(a guess)", "1 right")
}

// Every line fits into the width, and there is no colour unless it is asked for.
func TestSessionFitsTheWidth(t *testing.T) {
	for _, width := range []int{0, 60, 100} {
		got := runSession(t, Options{Width: width}, gcPause(t), "?", "b 3", "a 2", "a 1", "never 1", "e 3")
		most := width
		if most == 0 {
			most = usualWidth
		}
		for line := range strings.Lines(got) {
			isPrompt := strings.Contains(line, "Your forecast (?") || strings.Contains(line, "How sure are you?")
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > most && !isPrompt {
				t.Errorf("width %d: a line has %d columns: %s", width, n, line)
			}
		}
		if strings.Contains(got, "\x1b") {
			t.Error("there are colours without a palette")
		}
	}
}

// The number of questions is limited, also within a scenario.
func TestSessionWithAFewQuestions(t *testing.T) {
	got := runSession(t, Options{Number: 2}, gcPause(t), "b 3", "b 3", "b 3")
	wantInOrder(t, got, "(1 of 2)", "(2 of 2)", "(1 of 2) Right.", "2 right")
	if strings.Contains(got, "3 of") {
		t.Errorf("more than two questions are asked:\n%s", got)
	}
}

// A class votes twice. Nothing of the answer is shown before the second vote.
func TestSessionOfAClass(t *testing.T) {
	exercises := gcPause(t)
	got := runSession(t, Options{Instructor: true, Number: 1}, exercises, "1 2", "10 5 3 2", "x", "2 16 1 1")
	wantInOrder(t, got,
		"a  safe without tokens and with them", "Please answer with 4 numbers", "10 5 3 2", "Do not show the answer yet.",
		"Please answer with 4 numbers", "2 16 1 1",
		"  a  safe without tokens and with them", "10 votes (50%) → 2 votes (10%)",
		"✓ b  unsafe without tokens, safe with them", "5 votes (25%) → 16 votes (80%)",
		"without fencing  unsafe.",
	)
	before, _, _ := strings.Cut(got, "✓")
	if strings.Contains(before, "Right") || strings.Contains(before, "29.698s") {
		t.Errorf("the answer is shown before the second vote:\n%s", before)
	}
}

// A class cannot vote for a number, so it gets numbers to choose from, one of which is right.
func TestNumbersToVoteFor(t *testing.T) {
	places := map[int]bool{}
	for _, e := range []*Estimate{
		{Value: 30015e6, Tolerance: 3e9, AllowsNever: true},
		{Value: 13397e6, Tolerance: 13e8, AllowsNever: true},
		{Value: 13397e6, Tolerance: 13e8, AllowsNever: true, tempting: &guess{value: 12e9}},
		{IsNever: true, AllowsNever: true},
		{Unit: Numbers, Value: 55, Tolerance: 11},
		{Unit: Numbers, Value: 10, Tolerance: 2},
	} {
		q := (&Question{Estimate: e}).forVotes()
		right := q.rightChoices()
		for i, c := range q.Choices {
			g, err := e.parse(strings.TrimPrefix(c.Text, "about "))
			if err != nil {
				t.Fatal(err)
			}
			best, err := e.parse(strings.TrimPrefix(q.Choices[right[0]].Text, "about "))
			if err != nil {
				t.Fatal(err)
			}
			if i != right[0] && !g.isNever && !e.IsNever && (g.value-e.Value).Abs() <= (best.value-e.Value).Abs() {
				t.Errorf("%s: %s is nearer than the right choice", e, c.Text)
			}
		}
		if tempting := e.tempting; tempting != nil && !slices.ContainsFunc(q.Choices, func(c Choice) bool { return c.Text == "about "+e.text(*tempting) && !c.IsRight }) {
			t.Errorf("%s: the tempting answer is not among %+v", e, q.Choices)
		}
		if len(right) != 1 || len(q.Choices) < 4 {
			t.Errorf("%s: the choices are %+v", e, q.Choices)
			continue
		}
		places[right[0]] = true
	}
	if len(places) < 3 {
		t.Errorf("the right answer is always at the places %v", places)
	}
}

// A comma for decimals is refused, and never dropped.
func TestDecimalComma(t *testing.T) {
	for _, c := range []struct {
		unit Unit
		line string
		want time.Duration // -1 if the line is refused
	}{
		{Times, "8.5s", 8500 * time.Millisecond}, {Times, "8.5", 8500 * time.Millisecond}, {Times, "8,5s", -1}, {Times, "5,5", -1}, {Times, "1,500ms", -1},
		{Numbers, "55", 55}, {Numbers, "499,500", 499500}, {Numbers, "5,5", -1}, {Numbers, "5.5", -1}, {Numbers, "1,50", -1},
	} {
		g, err := (&Estimate{Unit: c.unit}).parse(c.line)
		switch {
		case c.want < 0 && err == nil:
			t.Errorf("%q is read as %v", c.line, g.value)
		case c.want >= 0 && (err != nil || g.value != c.want):
			t.Errorf("%q is read as %v (%v), want %v", c.line, g.value, err, c.want)
		case err != nil && strings.Contains(c.line, ",") && !strings.Contains(err.Error(), "comma"):
			t.Errorf("%q: the error is %v", c.line, err)
		}
	}
}

// A word is explained in the sense in which a question uses it, or not at all.
func TestTermsOfAQuestion(t *testing.T) {
	meanings := map[string]string{}
	for _, row := range termsOf(&Question{Text: "Is progress violated? Two clients hold a lease; notifications count."}) {
		meanings[row[0]] = row[1]
	}
	for word, want := range map[string]string{
		"progress": "a property: ", "violated": "a property is violated if", "notifications": "messages by which servers", "lease": "the time for which a grant",
	} {
		if !strings.HasPrefix(meanings[word], want) {
			t.Errorf("%s is explained as %q, want %q", word, meanings[word], want)
		}
	}
	if meaning, isExplained := meanings["hold"]; isExplained {
		t.Errorf("hold is explained as %q, which is the fault", meaning)
	}
}

// A sheet has no answers, and the sheet with answers has them.
func TestSheets(t *testing.T) {
	write := func(sh Sheet) string {
		var out strings.Builder
		if err := sh.Write(&out, gcPause(t)); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	without, with := write(Sheet{Title: "Try"}), write(Sheet{Title: "Try", Answers: true})
	wantInOrder(t, without, "# Try", "## gc-pause", "| lock | redlock on 5 nodes, TTL 30s |", "**1.** Is the data safe", "- ☐ a) safe", "**4.** client-1", "Answer: ______________ (right if off by at most")
	for _, leak := range []string{"☑", "30.015s", "29.698s", "lesson", "Replay"} {
		if strings.Contains(without, leak) {
			t.Errorf("the sheet without answers contains %q", leak)
		}
	}
	wantInOrder(t, with, "- ☑ b) unsafe without tokens", "Answer: 30.015s", "*The lesson.*", "Replay: `locksim run gc-pause --seed 1`")
	if regexp.MustCompile(`(?m)[ \t]+$`).MatchString(without) {
		t.Error("a line of the sheet ends with a space")
	}
}

// A scenario can contain anything in its texts, and must not control the terminal.
func TestTextsOfAScenarioAreEscaped(t *testing.T) {
	s, err := scenarios.Parse("mine.yaml", []byte("title: Mine\nlesson: \"a\\e[31mred\\u202eb\"\nwhy: \"x\\ay\"\nlock: {kind: single, ttl: 10s}\nclients: {client-1: {}, client-2: {}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := OfScenario(s, "mi\x1bne.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got := runSession(t, Options{}, all, "a 1", "\x1b[2J", "b 2")
	var sheet strings.Builder
	if err := (Sheet{Title: "x", Answers: true}).Write(&sheet, all); err != nil {
		t.Fatal(err)
	}
	wantInOrder(t, got, "Right.", "The lesson")
	if text := got + sheet.String(); strings.ContainsAny(text, "\x1b\a\u202e") {
		t.Errorf("the output controls the terminal: %q", text)
	}
}

// A seed decides the order, and the same seed gives the same order.
func TestShuffle(t *testing.T) {
	order := func(seed uint64) []string {
		all := OfTopic(topics()[0])
		Shuffle(all, seed)
		for i, e := range all {
			if strings.HasPrefix(e.item.Title, "And ") && (i == 0 || !e.followsUp(all[i-1])) {
				t.Errorf("seed %d: %q does not follow its question", seed, e.item.Title)
			}
		}
		var names []string
		for _, e := range all {
			names = append(names, e.item.Name)
		}
		return names
	}
	if !slices.Equal(order(1), order(1)) || slices.Equal(order(1), order(2)) {
		t.Errorf("seed 1 gives %v and %v, and seed 2 %v", order(1), order(1), order(2))
	}
}

// The surer a wrong forecast was, the earlier the score names its question.
func TestWhatToLookAtAgain(t *testing.T) {
	order := []graded{
		{grade: Wrong, confidence: Certain},
		{grade: Wrong, confidence: FairlySure},
		{grade: Wrong, confidence: Guess},
		{grade: Close, confidence: FairlySure},
		{grade: Close, confidence: Guess},
		{grade: Right, confidence: Guess},
	}
	for i, g := range order[1:] {
		if before := order[i]; before.urgency() <= g.urgency() {
			t.Errorf("%s is not before %s", before.reason(), g.reason())
		}
	}
	if g := (graded{grade: Right, confidence: FairlySure}); g.urgency() != 0 {
		t.Errorf("a right forecast is to be looked at again: %d", g.urgency())
	}
}

func TestQuestionsAreReadStrictly(t *testing.T) {
	for text, want := range map[string]string{
		"- topic: x\n  answer: safe\n":                            "answer",
		"- topic: x\n  questions: [{name: a, answer: safe}]\n":    "answer",
		"- topic: x\n  questions: [{name: a, twelve: the first}]": "the first",
	} {
		if _, err := parseTopics([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want one about %s", text, err, want)
		}
	}
}
