package command

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// A sweepCause is a mistake of the lock that a sweep has shown. A sweep consists of plays, which
// are runs on real servers, each with another fault. Many faults show the same mistake, so a sweep
// describes each mistake once.
type sweepCause struct {
	mistake checks.Mistake
	step    trace.Step
	plays   int
	// broken are the properties that the mistake violated in any of the plays.
	broken []checks.Property
	// why is what happened in the first of the plays, and replay plays it again.
	why, replay string
}

// addCauses adds the mistakes that a play shows. replay is the command that plays it again.
func (s *realitySweep) addCauses(run scenarios.RunResult, replay string) {
	for _, c := range checks.Causes(run.History, violationsOf(run, checks.BlameLock)) {
		same := func(o *sweepCause) bool { return o.mistake == c.Mistake && o.step == c.Step }
		i := slices.IndexFunc(s.causes, same)
		if i < 0 {
			i = len(s.causes)
			why := string(story.ForTimeline.Reason(c.Findings[0].Reason))
			s.causes = append(s.causes, &sweepCause{mistake: c.Mistake, step: c.Step, why: why, replay: replay})
		}
		s.causes[i].plays++
		for _, f := range c.Findings {
			if !slices.Contains(s.causes[i].broken, f.Property) {
				s.causes[i].broken = append(s.causes[i].broken, f.Property)
			}
		}
	}
}

// gravity returns the gravity of the worst property that the mistake violated. A smaller number
// is worse.
func (c *sweepCause) gravity() int {
	least := c.broken[0].Card().Gravity
	for _, p := range c.broken {
		least = min(least, p.Card().Gravity)
	}
	return least
}

// printCauses describes each mistake once, the worst first.
func (s *realitySweep) printCauses() {
	const margin = "   "
	slices.SortStableFunc(s.causes, func(a, b *sweepCause) int { return a.gravity() - b.gravity() })
	for i, c := range s.causes {
		printLine(s.out, "")
		printParagraph(s.out, fmt.Sprintf("%-2d ", i+1), story.MistakeTitle(c.mistake, c.step))
		printParagraph(s.out, margin, fmt.Sprintf("in %s; violates %s", story.Count(c.plays, "play"), story.List(c.broken)))
		printParagraph(s.out, margin, c.why)
		remedy, scenario := story.Remedy(c.mistake)
		if remedy != "" {
			printParagraph(s.out, margin, "remedy: "+remedy)
		}
		if scenario != "" {
			printParagraph(s.out, margin, "lesson: locksim explain "+scenario)
		}
		printLine(s.out, margin+"replay: %s", c.replay)
	}
}

// sweepWidth is how many columns the text about a mistake has.
const sweepWidth = 92

// printParagraph prints a text about a mistake with a margin. first is the margin of the first
// line. The other lines have a margin of blanks that is equally wide.
func printParagraph(out io.Writer, first, text string) {
	for i, line := range strings.Split(textwrap.Wrap(text, sweepWidth, 0), "\n") {
		if i > 0 {
			first = strings.Repeat(" ", len(first))
		}
		printLine(out, "%s%s", first, line)
	}
}
