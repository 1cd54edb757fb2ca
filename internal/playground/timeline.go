package playground

import (
	"time"

	"github.com/locksim/locksim/internal/story"
)

// mostRows is how many rows one part of a timeline can have. A browser scrolls through that many
// without delay.
const mostRows = 2000

// A Timeline is what happened in the runs of a world, as in the reports. What repeats, and what
// many clients do alike, is merged into one row, unless the request asks for all.
type Timeline struct {
	Parts []TimelinePart `json:"parts"`
	// Replay is the command that shows the whole timeline.
	Replay string `json:"replay"`
}

// A TimelinePart is a part of a timeline: the rows that all runs have in common, or those of one
// run only.
type TimelinePart struct {
	// Runs are the names of the runs that have the part.
	Runs []string      `json:"runs"`
	Rows []TimelineRow `json:"rows"`
	// LeftOut counts the rows at the end that are not in Rows.
	LeftOut int `json:"leftOut,omitempty"`
}

// A TimelineRow is one row of a timeline. The classes of rows and marks are classes of the style
// sheet that all pages share.
type TimelineRow struct {
	// Wait says how long nothing happened before the row; "" if that was not long.
	Wait string `json:"wait,omitempty"`
	At   string `json:"at"`
	Who  string `json:"who"`
	// Its says that the text is about something that belongs to Who, such as its lease.
	Its   bool           `json:"its,omitempty"`
	Text  string         `json:"text"`
	Class string         `json:"class,omitempty"`
	Marks []TimelineMark `json:"marks,omitempty"`
}

// A TimelineMark says why a row is important.
type TimelineMark struct {
	Text  string `json:"text"`
	Class string `json:"class,omitempty"`
}

// timeline runs the world, and returns the timelines of the runs that the picture shows.
func (w *world) timeline() (*Timeline, error) {
	both, err := w.runBoth(w.after, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	var runs []story.Run
	for _, run := range both {
		if w.Fencing == "" || w.Fencing == run.Fencing {
			names = append(names, story.FencingNames[run.Fencing])
			runs = append(runs, story.Run{History: run.History, Verdict: run.Verdict, Witnesses: run.Witnesses()})
		}
	}
	t := &Timeline{Parts: []TimelinePart{}, Replay: w.replay(w.after)}
	if w.All {
		t.Replay += " --messages"
	}
	decimals := 3
	if w.All {
		decimals = 6 // as the reports have it
	}
	timelines, _ := story.Timelines(runs, w.All, true)
	common := story.CommonClauses(timelines)
	last := t.add(names, timelines[0][:common], 0, decimals)
	for i, clauses := range timelines {
		t.add(names[i:i+1], clauses[common:], last, decimals)
	}
	return t, nil
}

// add adds a part with some clauses of the narrative, unless there are none. last is when the
// clause before them ended. add returns when the last clause ended.
func (t *Timeline) add(runs []string, clauses []story.Clause, last time.Duration, decimals int) time.Duration {
	part := TimelinePart{Runs: runs}
	for _, c := range clauses {
		wait := c.Wait(last)
		last = max(last, c.End())
		if len(part.Rows) == mostRows {
			part.LeftOut++
			continue
		}
		row := TimelineRow{
			Wait: wait, At: story.Moment(c.At, decimals), Who: c.Subject.String(), Its: c.IsAboutPossession, Text: c.Predicate.String(), Class: c.Mood.Class(),
		}
		for _, m := range c.Marks {
			row.Marks = append(row.Marks, TimelineMark{string(m.Sign) + " " + m.Text.String(), m.Mood.Class()})
		}
		part.Rows = append(part.Rows, row)
	}
	if len(part.Rows) > 0 {
		t.Parts = append(t.Parts, part)
	}
	return last
}
