package quiz

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/internal/story"
)

// A Confidence says how sure somebody is of a forecast.
type Confidence int

// How sure somebody can be.
const (
	Guess Confidence = iota + 1
	FairlySure
	Certain
)

// confidenceTexts names each confidence, as an answer and as a heading.
var confidenceTexts = map[Confidence]string{Guess: "a guess", FairlySure: "fairly sure", Certain: "certain"}

// A Forecast is an answer that is given before the run.
type Forecast struct {
	// choices are the numbers of the chosen choices, in order. number is the answer to a
	// question without choices.
	choices []int
	number  guess
	// isMissing says that no forecast was given.
	isMissing  bool
	Confidence Confidence
}

// A Grade says how good a forecast is.
type Grade int

// The grades, from the best to the worst. A close forecast has a part that is right, and is
// worth half of a right one.
const (
	Right Grade = iota
	Close
	Wrong
	NoForecast
)

// gradeTexts names the grades.
var gradeTexts = map[Grade]string{Right: "right", Close: "partly right", Wrong: "wrong", NoForecast: "no forecast"}

// Grade says how good a forecast is as an answer to the question.
func (q *Question) Grade(f Forecast) Grade {
	switch {
	case f.isMissing:
		return NoForecast
	case q.Estimate != nil:
		if q.Estimate.accepts(f.number) {
			return Right
		}
		return Wrong
	case q.IsSet:
		return q.gradeSet(f.choices)
	case q.Choices[f.choices[0]].IsRight:
		return Right
	case q.Choices[f.choices[0]].IsClose:
		return Close
	}
	return Wrong
}

// gradeSet grades a set of choices: a set with one mistake is close, unless there are only two
// choices.
func (q *Question) gradeSet(chosen []int) Grade {
	mistakes := 0
	for i, c := range q.Choices {
		if c.IsRight != slices.Contains(chosen, i) {
			mistakes++
		}
	}
	switch {
	case mistakes == 0:
		return Right
	case mistakes == 1 && len(q.Choices) > 2:
		return Close
	}
	return Wrong
}

// letter returns the letter of the choice with the index i.
func letter(i int) string { return string(rune('a' + i)) }

// Answer returns the right answer in words.
func (q *Question) Answer() string {
	if q.Estimate != nil {
		return q.Estimate.answer()
	}
	return q.describeChoices(q.rightChoices())
}

// answerText returns the right answer without letters, in one line.
func (q *Question) answerText() string {
	if q.Estimate != nil {
		return q.Estimate.answer()
	}
	var texts []string
	for _, i := range q.rightChoices() {
		texts = append(texts, q.Choices[i].Text)
	}
	return strings.Join(texts, "; ")
}

// describe returns a forecast in words.
func (q *Question) describe(f Forecast) string {
	switch {
	case f.isMissing:
		return "you gave none"
	case q.Estimate != nil:
		return q.Estimate.text(f.number)
	}
	return q.describeChoices(f.choices)
}

// describeChoices returns some choices, with their letters.
func (q *Question) describeChoices(chosen []int) string {
	if len(chosen) == 0 {
		return "none of them"
	}
	var texts []string
	for _, i := range chosen {
		texts = append(texts, letter(i)+"  "+q.Choices[i].Text)
	}
	return strings.Join(texts, "\n")
}

// remark says which part of a forecast is right; "" if there is nothing to say.
func (q *Question) remark(f Forecast) string {
	if f.isMissing || q.Estimate != nil || q.IsSet {
		return ""
	}
	return q.Choices[f.choices[0]].Remark
}

// expected says in words what can be given as an answer.
func (q *Question) expected() string {
	last := letter(len(q.Choices) - 1)
	switch {
	case q.Estimate != nil:
		return q.Estimate.expected()
	case q.IsSet:
		return fmt.Sprintf("the letters of all right answers, such as %s, or the word none", "a"+last)
	}
	return "one letter from a to " + last
}

// parseForecast reads a forecast, and the confidence if a digit from 1 to 3 follows it.
func (q *Question) parseForecast(line string) (Forecast, error) {
	words := strings.Fields(strings.ToLower(line))
	if len(words) == 0 {
		return Forecast{isMissing: true}, nil
	}
	var f Forecast
	if q.Estimate == nil {
		words = splitDigit(words)
	}
	last := len(words) - 1
	if last > 0 {
		if c, err := parseConfidence(words[last]); err == nil {
			f.Confidence, words = c, words[:last]
		} else if q.isForecastAndMore(words[:last], words[last]) {
			return f, errors.New(q.expected() + sureness)
		}
	}
	if q.Estimate != nil {
		g, err := q.Estimate.parse(strings.Join(words, ""))
		f.number = g
		return f, err
	}
	text := strings.Trim(strings.ReplaceAll(strings.Join(words, ""), ",", ""), ".)(")
	if q.IsSet && slices.Contains([]string{"none", "-", "nobody"}, text) {
		return f, nil
	}
	for _, r := range text {
		i := int(r - 'a')
		if i < 0 || i >= len(q.Choices) {
			return f, errors.New(q.expected())
		}
		if !slices.Contains(f.choices, i) {
			f.choices = append(f.choices, i)
		}
	}
	slices.Sort(f.choices)
	if len(f.choices) == 0 || !q.IsSet && len(f.choices) > 1 {
		return f, errors.New(q.expected())
	}
	return f, nil
}

// sureness says what may follow a forecast.
const sureness = ", and then 1, 2 or 3 for how sure you are"

// splitDigit splits a digit off the last word, as in b3 and ace3.
func splitDigit(words []string) []string {
	word := words[len(words)-1]
	letters := strings.TrimRight(word, "0123456789")
	if letters == "" || letters == word {
		return words
	}
	return append(slices.Clone(words[:len(words)-1]), letters, word[len(letters):])
}

// isForecastAndMore reports whether words are a complete forecast, to which the word after them
// does not belong. The last three digits of a number in groups, and the unit of a time, do belong
// to it.
func (q *Question) isForecastAndMore(words []string, more string) bool {
	if _, err := q.parseForecast(strings.Join(words, " ")); err != nil {
		return false
	}
	if q.Estimate != nil {
		_, err := strconv.Atoi(more)
		return err == nil && len(more) < len("000")
	}
	_, err := q.parseForecast(more)
	return err != nil || !q.IsSet
}

// parseConfidence reads a confidence.
func parseConfidence(text string) (Confidence, error) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if c := Confidence(n); err == nil && confidenceTexts[c] != "" {
		return c, nil
	}
	return 0, errors.New("1, 2 or 3")
}

// parseVotes reads the number of votes for each choice.
func parseVotes(line string, choices int) ([]int, error) {
	err := fmt.Errorf("%s, one for each choice, such as %s", story.Count(choices, "number"), strings.TrimSpace(strings.Repeat("4 ", choices)))
	words := strings.Fields(strings.ReplaceAll(line, ",", " "))
	if len(words) != choices {
		return nil, err
	}
	var votes []int
	for _, w := range words {
		n, bad := strconv.Atoi(w)
		if bad != nil || n < 0 || n > 1_000_000 {
			return nil, err
		}
		votes = append(votes, n)
	}
	return votes, nil
}
