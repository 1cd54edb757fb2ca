package quiz

import (
	"fmt"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
)

// histories returns the histories of both runs of a case.
func histories(c *Case) []*history.History {
	var all []*history.History
	for _, run := range c.runs() {
		all = append(all, run.History)
	}
	return all
}

// openingOf returns a text that introduces a scenario, and says nothing about its result.
func openingOf(r *round) string {
	h := r.cases[0].Off.History
	clients := 0
	for _, p := range h.Trace.Processes {
		if h.IsClient(p.Name) {
			clients++
		}
	}
	return fmt.Sprintf("The setting below has %s. It is run twice: without fencing the storage ignores fencing tokens, and with fencing it checks them. What happens?", story.Count(clients, "client"))
}

// verdictRows says what happened to the data in both runs, and the first thing that the lock
// did wrong.
func verdictRows(c *Case) [][2]string {
	off, on := story.VerdictAndData(c.Off.History, c.Off.Verdict), story.VerdictAndData(c.On.History, c.On.Verdict)
	rows := [][2]string{{"without fencing", string(off)}, {"with fencing", string(on)}}
	if off == on {
		rows = [][2]string{{"both runs", string(off)}}
	}
	if locks := story.LockSummary(c.Off.Verdict); len(locks) > 0 {
		rows = append(rows, [2]string{"the lock", string(locks[0])})
	}
	return rows
}

// whyOf returns the scenario's sentence about why the lock or the data of a case breaks, or holds.
// It returns "" if there is none, or if the sentence need not be true of the run, because the
// scenario was changed or the lock is another one.
func whyOf(c *Case) string {
	v := c.Off.Variant
	if v.Why == "" || c.Off.Lock != v.Lock || len(c.Scenario.Overrides) > 0 {
		return ""
	}
	return string(story.Sentence(v.Why))
}

// lessonOf returns what to learn from a round (an exercise that was run), as pairs of a
// heading and a text.
func lessonOf(r *round) [][2]string {
	var parts [][2]string
	add := func(heading, text string) {
		if text = textwrap.OneLine(text); text != "" {
			parts = append(parts, [2]string{heading, text})
		}
	}
	v := r.cases[0].Scenario.Variants[0]
	if r.item != nil {
		if r.item.IsMyth {
			add("Is it right?", r.item.Judgement)
		}
		add("Why", r.item.Why)
	}
	if len(r.cases) == 1 {
		add("In short", whyOf(r.cases[0]))
	}
	if r.item == nil && len(r.cases[0].Scenario.Overrides) == 0 {
		add("What would have prevented it", v.Prevention)
		add("The lesson", v.Lesson)
	}
	if r.item == nil {
		return parts
	}
	add("What an interviewer wants to hear", r.item.Interviewer)
	add("The follow-up", r.item.FollowUp)
	add("The trap", r.item.Trap)
	return parts
}
