package reports

import (
	"slices"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// A remark is one statement about runs: its label and its text.
type remark struct{ About, Text story.Raw }

func remarkOn[A, T ~string](about A, text T) remark {
	return remark{story.Raw(about), story.Raw(text)}
}

// explainRuns says in a few sentences what broke in the runs of one variant, and why. It
// uses only the traces and the findings of the checks.
func explain(runs []scenarios.Outcome) []remark {
	var remarks []remark
	for _, run := range runs {
		remarks = append(remarks, remarkOn(runName[run.Fencing], story.OfData(run.History, run.Verdict)))
	}
	remarks = append(allTheSame(remarks, "the data"), explainLocks(runs)...)
	remarks = append(remarks, notes(runs)...)
	return slices.DeleteFunc(remarks, func(r remark) bool { return r.Text == "" })
}

// buildNotes lists what the reader must know about how the runs were made.
func notes(runs []scenarios.Outcome) []remark {
	var remarks []remark
	for _, run := range runs {
		for _, note := range run.History.Trace.Notes {
			if r := (remark{"this build", story.Sentence(note)}); !slices.Contains(remarks, r) {
				remarks = append(remarks, r)
			}
		}
	}
	return remarks
}

// explainLocks says which properties of the lock broke; a sentence that is the same for all
// runs appears once.
func explainLocks(runs []scenarios.Outcome) []remark {
	var remarks []remark
	said := make([][]story.Raw, len(runs))
	for i, run := range runs {
		said[i] = story.OfLock(run.Verdict)
	}
	ofAll := func(text story.Raw) bool {
		return !slices.ContainsFunc(said, func(texts []story.Raw) bool { return !slices.Contains(texts, text) })
	}
	for _, text := range said[0] {
		if ofAll(text) {
			remarks = append(remarks, remark{"the lock", text})
		}
	}
	for i, run := range runs {
		for _, text := range said[i] {
			if !ofAll(text) {
				remarks = append(remarks, remarkOn("the lock, "+runName[run.Fencing], text))
			}
		}
	}
	return remarks
}

// mergeEqual returns one remark if all remarks have the same text.
func allTheSame(remarks []remark, about story.Raw) []remark {
	for _, r := range remarks {
		if r.Text != remarks[0].Text {
			return remarks
		}
	}
	return []remark{{about, remarks[0].Text}}
}
