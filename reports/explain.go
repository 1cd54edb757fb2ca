package reports

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// A remark is one statement about runs: a label, and a text. An empty label means the label
// of the remark before.
type remark struct{ About, Text story.Raw }

// remarkOn returns a remark with the given label and text.
func remarkOn[A, T ~string](about A, text T) remark {
	return remark{story.Raw(about), story.Raw(text)}
}

// explainRuns says in a few sentences what broke in the runs of one variant, and why. It is
// derived only from the traces and the findings of the checks.
func explainRuns(runs []scenarios.RunResult) []remark {
	remarks := append(explainData(runs, story.DataSummary), explainLocks(runs)...)
	remarks = append(remarks, deviations(runs)...)
	remarks = append(remarks, buildNotes(runs)...)
	return slices.DeleteFunc(remarks, func(r remark) bool { return r.Text == "" })
}

// explainData says what happened to the data in the runs, in the words that summarize
// returns, and why fencing did not help, if that can be said.
func explainData(runs []scenarios.RunResult, summarize func(*history.History, *checks.Verdict) story.Raw) []remark {
	var data []remark
	failure := story.Raw("")
	for _, run := range runs {
		data = append(data, remarkOn(fencingNames[run.Fencing], summarize(run.History, run.Verdict)))
		failure = cmp.Or(failure, story.FencingFailure(run.Verdict, run.History))
	}
	data = mergeEqual(data, "the data")
	if failure != "" {
		data = append(data, remarkOn("", failure))
	}
	return data
}

// deviations lists what did not happen in runs with overrides although the scenario describes
// it. Each deviation is listed once.
func deviations(runs []scenarios.RunResult) []remark {
	var remarks []remark
	for _, run := range runs {
		for _, d := range run.History.Trace.Deviations {
			if r := remarkOn("not reached", story.Visible(d)+"."); !slices.Contains(remarks, r) {
				remarks = append(remarks, r)
			}
		}
	}
	return remarks
}

// buildNotes lists what the reader has to know about how the runs were made, each note
// once.
func buildNotes(runs []scenarios.RunResult) []remark {
	var remarks []remark
	for _, run := range runs {
		for _, note := range run.History.Trace.Notes {
			subject := story.Raw("this build")
			if run.History.Trace.Real != "" {
				subject = "this run"
			}
			if r := (remark{subject, story.Sentence(note)}); !slices.Contains(remarks, r) {
				remarks = append(remarks, r)
			}
		}
	}
	return remarks
}

// explainLocks says which properties of the lock were violated. A sentence that is the same
// for all runs appears once.
func explainLocks(runs []scenarios.RunResult) []remark {
	var remarks []remark
	sentences := make([][]story.Raw, len(runs))
	for i, run := range runs {
		sentences[i] = story.LockSummary(run.Verdict)
	}
	inAllRuns := func(text story.Raw) bool {
		return !slices.ContainsFunc(sentences, func(texts []story.Raw) bool { return !slices.Contains(texts, text) })
	}
	for _, text := range sentences[0] {
		if inAllRuns(text) {
			remarks = append(remarks, remark{"the lock", text})
		}
	}
	for i, run := range runs {
		for _, text := range sentences[i] {
			if !inAllRuns(text) {
				remarks = append(remarks, remarkOn("the lock, "+fencingNames[run.Fencing], text))
			}
		}
	}
	return remarks
}

// mergeEqual returns the remarks as they are. If all have the same text, it returns one
// remark with that text and the given label.
func mergeEqual(remarks []remark, label story.Raw) []remark {
	for _, r := range remarks {
		if r.Text != remarks[0].Text {
			return remarks
		}
	}
	return []remark{{label, remarks[0].Text}}
}
