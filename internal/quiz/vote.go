package quiz

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/internal/paint"
	"github.com/locksim/locksim/internal/story"
)

// playVotes leads a class through a round: it reads the votes, asks for a discussion, reads the
// votes again, and then shows the run and how the votes have moved.
func (s *session) playVotes(r *round) error {
	type ballot struct {
		q             *Question
		before, after []int
	}
	var ballots []ballot
	var stopped error
	for i, asked := range r.questions {
		q := asked.forVotes()
		s.question(q, i, len(r.questions))
		before, err := s.readVotes("The votes", q)
		if err != nil {
			stopped = err
			break
		}
		s.paragraph(discussion)
		after, err := s.readVotes("The votes after the discussion", q)
		s.asked++
		ballots = append(ballots, ballot{q, before, after})
		if err != nil {
			stopped = err
			break
		}
	}
	if len(ballots) == 0 {
		return stopped
	}
	for _, b := range ballots {
		s.line("  %s\n", s.strong(wrapFrom(b.q.Text, s.width, 2)))
		for i, c := range b.q.Choices {
			sign, colour := " ", ""
			if c.IsRight {
				sign, colour = "✓", s.palette.Good
			}
			s.line("  %s %s  %s", paint.Text(colour, sign), letter(i), wrapFrom(c.Text, s.width, 7))
			s.line("       %s", s.faint(movement(b.before, b.after, i)))
		}
		s.line("")
		if b.q.Reason != "" {
			s.paragraph(b.q.Reason)
		}
	}
	s.after(r)
	if stopped != nil {
		return stopped
	}
	_, err := s.ask("Enter continues, q quits: ")
	s.line("")
	return err
}

// discussion says what to do between the votes. The text does not depend on how the class voted,
// because the class sees the screen and must not guess the answer from it.
const discussion = "Do not show the answer yet. Ask everybody to convince a neighbour who voted differently, for two or three minutes. Then vote again."

// forVotes returns the question with choices instead of a number, because a class can vote
// only for choices.
func (q *Question) forVotes() *Question {
	if q.Estimate == nil {
		return q
	}
	voted := *q
	voted.Choices, voted.Estimate, voted.IsSet = q.Offered(), nil, false
	return &voted
}

// readVotes reads the number of votes for each choice. Enter means that nobody voted.
func (s *session) readVotes(prompt string, q *Question) ([]int, error) {
	for {
		line, err := s.ask(fmt.Sprintf("%s, one number for each choice (Enter: no vote): ", prompt))
		if err != nil {
			return nil, err
		}
		if line == "" {
			s.line("")
			return nil, nil
		}
		if line == "?" {
			s.terms(q)
			continue
		}
		votes, err := parseVotes(line, len(q.Choices))
		if err == nil {
			s.line("")
			return votes, nil
		}
		s.refuse(err)
	}
}

func sum(votes []int) int {
	total := 0
	for _, n := range votes {
		total += n
	}
	return total
}

// movement says how the votes for the choice with the index i have changed.
func movement(before, after []int, i int) string {
	part := func(votes []int) string {
		if sum(votes) == 0 {
			return "no vote"
		}
		return fmt.Sprintf("%s (%d%%)", story.Count(votes[i], "vote"), (100*votes[i]+sum(votes)/2)/sum(votes))
	}
	text := part(before) + " → " + part(after)
	if sum(before) > 0 && sum(after) > 0 {
		const barWidth = 20
		text += "  " + strings.Repeat("█", barWidth*after[i]/sum(after))
	}
	return strings.TrimRight(text, " ")
}
