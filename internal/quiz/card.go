package quiz

import (
	"cmp"
	"fmt"
	"slices"
)

// A Card has everything that a document shows of an exercise (what is asked at one time): the
// setting, the questions and the answers.
type Card struct {
	// Name is the name of the question in questions.yaml. If the exercise has none, it is the
	// name of the scenario.
	Name, Title string
	// IsMyth says that the title is a claim that people make, and IsAsked that it is a question
	// that an interviewer asks. If neither is set, the title names a scenario.
	IsMyth, IsAsked bool
	// Opening is the setting in words, and Setting has a row for each part of it. Neither
	// says anything about the result.
	Opening string
	Setting [][2]string
	// Questions are the questions. The fields below may be shown only after they have been
	// answered.
	Questions []*Question
	// Results says what happened in each run, and Lesson what to learn from it, as pairs of a
	// heading and a text.
	Results, Lesson [][2]string
	// Trial is a variation to try; nil if there is none.
	Trial *CardTrial
	// Replays are the commands that run the cases, and Scenarios the names of their scenarios.
	Replays, Scenarios []string
}

// A CardTrial is a variation of the run: what it asks, the command that runs it, and what it
// shows.
type CardTrial struct{ Asks, Command, Shows string }

// Card runs the exercise, and its variation too if withTrial is set.
func (e *Exercise) Card(withTrial bool) (*Card, error) {
	r, err := e.prepare()
	if err != nil {
		return nil, err
	}
	c := &Card{Name: e.Topic, Title: r.title(), Opening: openingOf(r), Setting: settingRows(r), Questions: r.questions, Lesson: lessonOf(r), Replays: r.replays}
	for i, one := range r.cases {
		if !slices.Contains(c.Scenarios, one.Scenario.Name) {
			c.Scenarios = append(c.Scenarios, one.Scenario.Name)
		}
		for _, row := range verdictRows(one) {
			if len(r.cases) > 1 {
				row[0] = r.labels[i] + ", " + row[0]
			}
			c.Results = append(c.Results, row)
		}
	}
	if e.item == nil {
		return c, nil
	}
	c.Name, c.IsMyth, c.IsAsked, c.Opening = e.item.Name, e.item.IsMyth, !e.item.IsMyth, e.item.Ask
	if withTrial {
		command, err := e.item.Variation.command()
		_, shows, tryErr := e.item.Try()
		if err = cmp.Or(err, tryErr); err != nil {
			return nil, fmt.Errorf("quiz: %s: %w", e.item.Name, err)
		}
		c.Trial = &CardTrial{e.item.Variation.Asks, command, shows}
	}
	return c, nil
}

// Offered returns the answers to choose from: the choices of the question, or some possible answers
// if the question asks for a number.
func (q *Question) Offered() []Choice {
	if q.Estimate != nil {
		return q.Estimate.choices()
	}
	return q.Choices
}
