package quiz

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/internal/paint"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/reports"
)

// A session asks exercises one after the other: it writes a question, reads a forecast and a
// confidence, and then shows the run.
type session struct {
	page
	in *bufio.Reader
	// isEchoed says that the answers do not appear on the output by themselves, because they do
	// not come from a terminal.
	isEchoed bool
	isVote   bool
	// isVote says that a class votes, as Options.Instructor asks. isInterrupted is
	// Options.IsInterrupted.
	isInterrupted func() bool
	score         score
	// asked counts the questions that were asked. refused counts the answers to the last of them
	// that could not be read.
	asked, refused int
}

// Options say how a session reads answers and writes questions.
type Options struct {
	Palette reports.Palette
	// Width is the maximum number of columns in a line; 0 means 80.
	Width int
	// Echo writes each answer to the output, for input that is not a terminal.
	Echo bool
	// Instructor reads votes of a class instead of one forecast.
	Instructor bool
	// Number is the greatest number of questions; 0 means all.
	Number int
	// IsInterrupted reports, when the input has ended, whether an interrupt has ended it; nil
	// means that none can.
	IsInterrupted func() bool
}

// errStopped says that the input has ended, and errQuit that somebody has quit.
var (
	errStopped = errors.New("stopped")
	errQuit    = fmt.Errorf("%w: quit", errStopped)
)

// Run asks the exercises, and writes the score at the end. It ends early when the input does, or
// when somebody quits.
func Run(in io.Reader, out io.Writer, exercises []*Exercise, o Options) error {
	s := &session{
		page:     page{w: out, width: cmp.Or(o.Width, usualWidth), palette: o.Palette},
		in:       bufio.NewReader(in),
		isEchoed: o.Echo, isVote: o.Instructor, isInterrupted: o.IsInterrupted,
	}
	total := len(exercises)
	if o.Number > 0 {
		total = min(total, o.Number)
	}
	for i, e := range exercises {
		if s.err != nil || o.Number > 0 && s.asked >= o.Number || i > 0 && !s.waitForReader() {
			break
		}
		r, err := e.prepare()
		if err != nil {
			return err
		}
		if len(r.questions) == 0 {
			s.line("%s: no form of question applies to its runs; `%s` shows them.\n", e.title(), r.replays[0])
			continue
		}
		if o.Number > 0 {
			r.questions = r.questions[:min(len(r.questions), o.Number-s.asked)]
		}
		s.heading(r, i+1, total)
		if err := s.play(r); errors.Is(err, errStopped) {
			break
		} else if err != nil {
			return err
		}
	}
	if !s.isVote {
		s.writeScore()
	}
	return s.err
}

// waitForReader waits until somebody at a terminal has read the result and wants the next question.
// It returns false if the session should end.
func (s *session) waitForReader() bool {
	if s.isEchoed || s.isVote || s.asked == 0 {
		return true
	}
	_, err := s.ask("Enter: the next question; q: end ")
	s.line("")
	return err == nil
}

// heading writes the setting of a round.
func (s *session) heading(r *round, n, of int) {
	s.line("%s", s.faint(strings.Repeat("─", min(s.width, usualWidth))))
	place := fmt.Sprintf("%d of %d", n, of)
	if r.Topic != r.title() {
		place += " · " + r.Topic
	}
	s.line("%s", s.faint(place))
	s.line("")
	if r.item != nil {
		s.line("  %s", s.faint(r.item.asker()+":"))
		s.line("  %s\n", wrapFrom(r.item.Title, s.width, 2))
		s.paragraph(r.item.Ask)
	} else {
		s.line("  %s\n", s.strong(wrapFrom(r.title(), s.width, 2)))
		s.paragraph(openingOf(r))
	}
	if len(r.setting) > 0 {
		s.labelled(settingRows(r))
		s.line("")
	}
}

// settingRows returns the setting of a round as labelled texts.
func settingRows(r *round) [][2]string {
	var rows [][2]string
	for _, row := range r.setting {
		rows = append(rows, [2]string{row.About.String(), row.Text.String()})
	}
	return rows
}

// play asks all questions of a round (an exercise that was run), and then shows the run. If
// somebody stops in between, it shows the results of the forecasts given so far.
func (s *session) play(r *round) error {
	if s.isVote {
		return s.playVotes(r)
	}
	var forecasts []Forecast
	var stopped error
	for i, q := range r.questions {
		s.question(q, i, len(r.questions))
		f, err := s.readForecast(q)
		if err == nil || f.Confidence != 0 {
			s.asked++
			forecasts = append(forecasts, f)
		}
		if err != nil {
			stopped = err
			break
		}
	}
	if len(forecasts) == 0 {
		return stopped
	}
	for i, f := range forecasts {
		q := r.questions[i]
		s.score.add(r, q, f)
		s.result(r, q, f, i, len(r.questions))
	}
	s.after(r)
	return stopped
}

// forecastLabel comes before the text of a question if it is the only one of its round. It
// distinguishes the question from the title of the exercise, which asks or claims something else.
const forecastLabel = "What you forecast: "

// question writes a question and its choices.
func (s *session) question(q *Question, i, of int) {
	s.refused = 0
	text := forecastLabel + q.Text
	if of > 1 {
		text = fmt.Sprintf("(%d of %d) %s", i+1, of, q.Text)
	}
	s.line("  %s\n", s.strong(wrapFrom(text, s.width, 2)))
	if q.Estimate == nil {
		s.choices(q.Choices)
		if q.IsSet {
			s.paragraph("Answer with " + q.expected() + ".")
		}
		return
	}
	s.paragraph("A forecast is right if it is " + q.Estimate.Rule + ".")
}

// readForecast reads a forecast and the confidence in it. If the input ends after the forecast,
// the forecast is a guess, and readForecast returns it with the error.
func (s *session) readForecast(q *Question) (Forecast, error) {
	for {
		line, err := s.ask("Your forecast (? terms, q quit, Enter: I do not know): ")
		if err != nil {
			return Forecast{}, err
		}
		if line == "?" {
			s.terms(q)
			continue
		}
		f, err := q.parseForecast(line)
		if err != nil {
			s.refuse(err)
			continue
		}
		if f.isMissing || f.Confidence != 0 {
			s.line("")
			return f, nil
		}
		f.Confidence, err = s.readConfidence()
		s.line("")
		return f, err
	}
}

// readConfidence reads how sure somebody is. An empty answer, or the end of the input, means a
// guess. It returns 0 if somebody quits; then the forecast does not count.
func (s *session) readConfidence() (Confidence, error) {
	for {
		line, err := s.ask("How sure are you? (1 or Enter a guess, 2 fairly sure, 3 certain): ")
		if errors.Is(err, errQuit) {
			return 0, err
		}
		if err != nil {
			return Guess, err
		}
		if line == "" {
			return Guess, nil
		}
		c, err := parseConfidence(line)
		if err == nil {
			return c, nil
		}
		s.refuse(err)
	}
}

// mostRefused is how many answers to one question a session refuses before it ends, if the answers
// do not come from a terminal: a program can give wrong answers without end.
const mostRefused = 20

// refuse tells somebody whose answer cannot be read what answers are expected.
func (s *session) refuse(expected error) {
	s.refused++
	s.line("  %s", wrapFrom("Please answer with "+expected.Error()+".", s.width, 2))
}

// ask writes a prompt and reads a line. It returns errStopped if somebody quits or the input
// has ended.
func (s *session) ask(prompt string) (string, error) {
	if s.isEchoed && s.refused >= mostRefused {
		s.line("  %d answers could not be read, so the session ends.\n", s.refused)
		return "", errStopped
	}
	s.print("  " + prompt)
	read, err := s.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", fmt.Errorf("an answer is longer than %d bytes; answer with a letter, a time or a number", len(read))
	}
	line := strings.TrimSpace(string(read))
	if err != nil && line == "" {
		s.line("\n")
		switch {
		case !errors.Is(err, io.EOF):
			return "", err
		case s.isInterrupted != nil && s.isInterrupted():
			return "", errQuit
		}
		return "", errStopped
	}
	if s.isEchoed {
		s.line("%s", story.Visible(line))
	}
	if line == "q" || line == "quit" || line == "exit" {
		s.line("")
		return "", errQuit
	}
	return line, s.err
}

// terms explains the words of a question.
func (s *session) terms(q *Question) {
	s.refused++
	s.line("")
	s.paragraph(q.Terms)
	s.labelled(termsOf(q))
	s.line("")
}

// result writes a forecast beside the result.
func (s *session) result(r *round, q *Question, f Forecast, i, of int) {
	grade := q.Grade(f)
	head := strings.ToUpper(gradeTexts[grade][:1]) + gradeTexts[grade][1:]
	if of > 1 {
		head = fmt.Sprintf("(%d of %d) %s", i+1, of, head)
	}
	if remark := q.remark(f); remark != "" {
		head += ": " + remark
	}
	s.line("  %s", paint.Text(s.gradeColour(grade), wrapFrom(head+".", s.width, 2)))
	forecast := q.describe(f)
	if !f.isMissing {
		forecast += "  (" + confidenceTexts[f.Confidence] + ")"
	}
	s.labelled([][2]string{{"your forecast", forecast}, {"the run", q.Answer()}})
	if q.Reason != "" {
		s.line("  %s", wrapFrom(q.Reason, s.width, 2))
	}
	s.line("")
}

// after shows the runs of a round, and what to learn from them.
func (s *session) after(r *round) {
	for i, c := range r.cases {
		if len(r.cases) == 1 {
			s.timeline(c)
		} else {
			s.line("  %s", s.strong(wrapFrom(r.labels[i], s.width, 2)))
		}
		s.labelled(verdictRows(c))
		if why := whyOf(c); len(r.cases) > 1 && why != "" {
			s.line("  %s", wrapFrom(why, s.width, 2))
		}
		s.line("")
	}
	for _, part := range lessonOf(r) {
		s.line("  %s", s.strong(wrapFrom(part[0], s.width, 2)))
		s.paragraph(part[1])
	}
	rows := [][2]string{}
	if r.item != nil {
		if try, err := r.item.Variation.command(); err == nil {
			rows = append(rows, [2]string{"try", r.item.Variation.Asks + "\n" + try})
		}
		if r.item.Source != "" {
			rows = append(rows, [2]string{"source", r.item.Source})
		}
	}
	rows = append(rows, [2]string{"replay", strings.Join(r.replays, "\n")})
	s.labelled(rows)
	s.line("")
}

// mostLines is the greatest number of lines of a timeline. The rest of a longer timeline is shown
// only by the command that replays the run.
const mostLines = 40

// timeline writes what happened in both runs of a case.
func (s *session) timeline(c *Case) {
	text := reports.Timeline{Palette: s.palette, Width: s.width}.Render([]string{"without fencing", "with fencing"}, histories(c))
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if more := len(lines) - mostLines; more > 0 {
		lines = append(lines[:mostLines], s.faint(fmt.Sprintf("        ⋮ %s; the command at the end shows all", story.Count(more, "more line"))))
	}
	s.print(strings.Join(lines, "\n") + "\n\n")
}
