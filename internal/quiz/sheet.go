package quiz

import (
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/internal/markdown"
)

// A Sheet writes exercises in Markdown, to be printed: without answers, or with the answers after
// each question.
type Sheet struct {
	Title string
	// Answers adds the answers, the reasons and what to learn from them.
	Answers bool
	// Number is the greatest number of questions; 0 means all.
	Number int
}

// Write writes the sheet.
func (sh Sheet) Write(w io.Writer, exercises []*Exercise) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", markdown.Escape(sh.Title))
	number := 0
	for _, e := range exercises {
		if sh.Number > 0 && number >= sh.Number {
			break
		}
		c, err := e.Card(sh.Answers)
		if err != nil {
			return err
		}
		if sh.Number > 0 {
			c.Questions = c.Questions[:min(len(c.Questions), sh.Number-number)]
		}
		if len(c.Questions) == 0 {
			continue
		}
		writeSetting(&b, c)
		for _, q := range c.Questions {
			number++
			sh.writeQuestion(&b, q, number)
		}
		if sh.Answers {
			writeLesson(&b, c)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeSetting writes the heading and the setting of an exercise.
func writeSetting(b *strings.Builder, c *Card) {
	fmt.Fprintf(b, "\n## %s\n", markdown.Escape(c.Title))
	switch {
	case c.IsMyth:
		b.WriteString("\n*People say so. Is it right? The numbered question asks for a forecast.*\n")
	case c.IsAsked:
		b.WriteString("\n*An interviewer asks so. The numbered question asks for a forecast.*\n")
	}
	fmt.Fprintf(b, "\n%s\n", markdown.Escape(c.Opening))
	if len(c.Setting) > 0 {
		b.WriteString("\n| part | setting |\n|---|---|\n")
		for _, row := range c.Setting {
			fmt.Fprintf(b, "| %s | %s |\n", markdown.Escape(row[0]), markdown.Escape(row[1]))
		}
	}
}

// writeQuestion writes a question, and the answer if the sheet has answers.
func (sh Sheet) writeQuestion(b *strings.Builder, q *Question, number int) {
	fmt.Fprintf(b, "\n**%d.** %s", number, markdown.Escape(q.Text))
	if q.Terms != "" {
		fmt.Fprintf(b, " *%s*", markdown.Escape(q.Terms))
	}
	b.WriteString("\n\n")
	for i, c := range q.Choices {
		box := "☐"
		if sh.Answers && c.IsRight {
			box = "☑"
		}
		fmt.Fprintf(b, "- %s %s) %s\n", box, letter(i), markdown.Escape(c.Text))
	}
	if q.Estimate != nil {
		if sh.Answers {
			fmt.Fprintf(b, "Answer: %s (right if %s)\n", markdown.Escape(q.Estimate.answer()), q.Estimate.Rule)
		} else {
			fmt.Fprintf(b, "Answer: ______________ (right if %s)\n", q.Estimate.Rule)
		}
	}
	if !sh.Answers {
		b.WriteString("\nSure? ☐ a guess ☐ fairly sure ☐ certain\n")
	} else if q.Reason != "" {
		fmt.Fprintf(b, "\n%s\n", markdown.Escape(q.Reason))
	}
}

// writeLesson writes the results of an exercise and what to learn from them.
func writeLesson(b *strings.Builder, c *Card) {
	b.WriteString("\n")
	for _, row := range c.Results {
		fmt.Fprintf(b, "- %s: %s\n", markdown.Escape(row[0]), markdown.Escape(row[1]))
	}
	for _, part := range c.Lesson {
		head := part[0]
		if !strings.HasSuffix(head, "?") {
			head += "."
		}
		fmt.Fprintf(b, "\n*%s* %s\n", markdown.Escape(head), markdown.Escape(part[1]))
	}
	if t := c.Trial; t != nil {
		fmt.Fprintf(b, "\n*Try.* %s %s shows: %s.\n", markdown.Escape(t.Asks), markdown.Code(t.Command), markdown.Escape(t.Shows))
	}
	for _, replay := range c.Replays {
		fmt.Fprintf(b, "\nReplay: %s\n", markdown.Code(replay))
	}
}
