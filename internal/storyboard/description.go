package storyboard

import (
	"cmp"
	"fmt"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// describe describes the board in words, with a sentence for each moment. The words say all
// that the picture shows, because some readers cannot see the picture.
func (l *layout) describe() {
	say := func(words string, step int) {
		l.board.sentences = append(l.board.sentences, sentence{story.Visible(words), step})
	}
	say(l.board.Title+".", 0)
	for i, m := range l.common {
		on := cmp.Or(m.lane.client, map[trace.Role]string{trace.RoleNode: "lock service", trace.RoleStorage: "storage"}[m.lane.role])
		say(fmt.Sprintf("%s %s: %s.", story.Moment(m.At, 3), on, m.text), 1+i)
	}
	step := len(l.common) + 1
	for _, e := range l.endings {
		words := endingName(e.runs) + ": " + e.runs[0].Verdict.Verdict
		if outcome := outcomeOf(e); outcome != "" && len(e.moments) < 2 {
			words += ": " + outcome
		}
		say(words+".", step)
		for i, m := range e.moments {
			say(fmt.Sprintf("%s %s.", story.Moment(m.At, 3), l.describeInEnding(m)), step+i)
		}
		step += e.steps()
	}
	if folded := l.describeFolded(); folded != "" {
		say("Not drawn: "+folded+".", 0)
	}
}

// endingName names the runs of an ending.
func endingName(runs []story.Run) string {
	var names []string
	for _, r := range runs {
		names = append(names, r.Title)
	}
	return story.List(names)
}
