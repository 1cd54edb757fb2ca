package quiz

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/internal/markdown"
)

// A Sheet writes exercises in Markdown, to print: without answers, with answers after each
// question, or both parts.
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
		r, err := e.prepare()
		if err != nil {
			return err
		}
		if sh.Number > 0 {
			r.questions = r.questions[:min(len(r.questions), sh.Number-number)]
		}
		if len(r.questions) == 0 {
			continue
		}
		sh.writeSetting(&b, r)
		for _, q := range r.questions {
			number++
			sh.writeQuestion(&b, q, number)
		}
		if sh.Answers {
			if err := writeLesson(&b, r); err != nil {
				return err
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeSetting writes the heading and the setting of a round.
func (sh Sheet) writeSetting(b *strings.Builder, r *round) {
	fmt.Fprintf(b, "\n## %s\n", markdown.Escape(r.title()))
	if r.item != nil {
		if r.item.IsMyth {
			b.WriteString("\n*People say so. Is it right?*\n")
		}
		fmt.Fprintf(b, "\n%s\n", markdown.Escape(r.item.Ask))
	} else {
		fmt.Fprintf(b, "\n%s\n", markdown.Escape(openingOf(r)))
	}
	if rows := settingRows(r); len(rows) > 0 {
		b.WriteString("\n| part | setting |\n|---|---|\n")
		for _, row := range rows {
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

// writeLesson writes the result of a round and what to learn from it.
func writeLesson(b *strings.Builder, r *round) error {
	b.WriteString("\n")
	for i, c := range r.cases {
		for _, row := range verdictRows(c) {
			label := row[0]
			if len(r.cases) > 1 {
				label = r.labels[i] + ", " + label
			}
			fmt.Fprintf(b, "- %s: %s\n", markdown.Escape(label), markdown.Escape(row[1]))
		}
	}
	for _, part := range lessonOf(r) {
		fmt.Fprintf(b, "\n*%s.* %s\n", markdown.Escape(part[0]), markdown.Escape(part[1]))
	}
	if r.item != nil {
		try, err := r.item.Variation.command()
		_, shown, tryErr := r.item.Try()
		if err = cmp.Or(err, tryErr); err != nil {
			return err
		}
		fmt.Fprintf(b, "\n*Try.* %s %s shows: %s.\n", markdown.Escape(r.item.Variation.Asks), markdown.Code(try), markdown.Escape(shown))
	}
	for _, replay := range r.replays {
		fmt.Fprintf(b, "\nReplay: %s\n", markdown.Code(replay))
	}
	return nil
}
