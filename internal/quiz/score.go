package quiz

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/story"
)

// A score counts graded forecasts.
type score struct{ graded []graded }

// A graded is the grade of one forecast. title names the question, and command asks it again.
type graded struct {
	topic, title, command string
	grade                 Grade
	confidence            Confidence
}

// add grades a forecast.
func (s *score) add(r *round, q *Question, f Forecast) {
	title := r.title()
	if r.item == nil {
		title += ": " + q.Form
	}
	s.graded = append(s.graded, graded{r.Topic, title, r.command(), q.Grade(f), f.Confidence})
}

// urgency says how much somebody should look at a question again. It is the greater the surer
// somebody was of a wrong forecast, and 0 for a right forecast that was not a guess.
func (g graded) urgency() int {
	switch {
	case g.grade == Wrong:
		return 3 + int(g.confidence)
	case g.grade == Close:
		return 1 + int(g.confidence)
	case g.grade == NoForecast:
		return 3
	case g.confidence == Guess:
		return 1
	}
	return 0
}

// reason says why somebody should look at a question again.
func (g graded) reason() string {
	switch g.grade {
	case NoForecast:
		return gradeTexts[g.grade]
	case Right:
		return "right, but a guess"
	}
	return confidenceTexts[g.confidence] + ", and " + gradeTexts[g.grade]
}

// count counts the forecasts that have the grade g and that accepts accepts.
func (s *score) count(g Grade, accepts func(graded) bool) int {
	n := 0
	for _, f := range s.graded {
		if f.grade == g && accepts(f) {
			n++
		}
	}
	return n
}

// topics returns the topics of the forecasts, in the order in which they were first asked.
func (s *score) topics() []string {
	var names []string
	for _, f := range s.graded {
		if !slices.Contains(names, f.topic) {
			names = append(names, f.topic)
		}
	}
	return names
}

// mostAgain is the greatest number of questions that the score names to look at again.
const mostAgain = 10

// writeScore writes the score: by topic, by confidence, and what to look at again.
func (s *session) writeScore() {
	if len(s.score.graded) == 0 {
		s.line("No forecast was given, so there is no score.")
		return
	}
	s.line("%s", s.strong("Score"))
	s.labelled([][2]string{{"all", s.score.describe(func(graded) bool { return true })}})
	if names := s.score.topics(); len(names) > 1 {
		var rows [][2]string
		for _, name := range names {
			rows = append(rows, [2]string{name, s.score.describe(func(g graded) bool { return g.topic == name })})
		}
		s.labelled(rows)
	}
	var lines []string
	for _, c := range []Confidence{Certain, FairlySure, Guess} {
		isOf := func(g graded) bool { return g.confidence == c }
		right, all := s.score.count(Right, isOf), 0
		for _, g := range []Grade{Right, Close, Wrong} {
			all += s.score.count(g, isOf)
		}
		if all > 0 {
			lines = append(lines, fmt.Sprintf("  %s: %d of %s right", confidenceTexts[c], right, story.Count(all, "forecast")))
		}
	}
	if len(lines) > 0 {
		s.line("\n%s", strings.Join(lines, "\n"))
	}
	again := slices.DeleteFunc(slices.Clone(s.score.graded), func(g graded) bool { return g.urgency() == 0 })
	if len(again) == 0 {
		return
	}
	slices.SortStableFunc(again, func(a, b graded) int { return b.urgency() - a.urgency() })
	s.line("\n%s", s.strong("Look again at"))
	s.line("  %s", wrapFrom("locksim ask NAME asks the question again; the replay after each result shows its run.", s.width, 2))
	again, more := again[:min(len(again), mostAgain)], len(again)-mostAgain
	for i, g := range again {
		if slices.ContainsFunc(again[:i], func(o graded) bool { return o.command == g.command }) {
			continue
		}
		for _, o := range again[i:] {
			if o.command == g.command {
				s.line("  %s", wrapFrom(fmt.Sprintf("%s: %s", o.reason(), o.title), s.width, 4))
			}
		}
		s.line("    %s", s.faint(g.command))
	}
	if more > 0 {
		s.line("  and %d more", more)
	}
}

// describe says how many of the forecasts that accepts accepts have each grade.
func (s *score) describe(accepts func(graded) bool) string {
	right, closeOnes := s.count(Right, accepts), s.count(Close, accepts)
	wrong, none := s.count(Wrong, accepts), s.count(NoForecast, accepts)
	text := fmt.Sprintf("%d right, %d partly right, %d wrong, %d without a forecast", right, closeOnes, wrong, none)
	points := 2*right + closeOnes
	return text + fmt.Sprintf("; %s of %d", story.Count(points, "point"), 2*(right+closeOnes+wrong+none))
}
