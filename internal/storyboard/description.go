package storyboard

import (
	"cmp"
	"fmt"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// describe describes the board in words, with a sentence for each moment.
func (l *layout) describe() {
	say := func(words string, step int) {
		l.board.sentences = append(l.board.sentences, sentence{story.Visible(words), step})
	}
	sayMoments := func(all []*moment, step int) {
		for i, m := range all {
			on := cmp.Or(m.lane.client, map[trace.Role]string{trace.RoleNode: "lock service", trace.RoleStorage: "storage"}[m.lane.role])
			say(fmt.Sprintf("%s %s: %s.", story.Moment(m.At, 3), on, m.text), step+i)
		}
	}
	say(l.board.Title+".", 0)
	sayMoments(l.common, 1)
	step := len(l.common) + 1
	for _, e := range l.endings {
		say(endingName(e.runs)+": "+e.runs[0].Verdict.Verdict+".", step)
		sayMoments(e.moments, step)
		step += e.steps()
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
