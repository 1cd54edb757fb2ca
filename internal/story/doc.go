// Package story describes in English what happened in a run. Its input is a history, the
// findings of package checks, and the phrases that the faults of a trace bring with them.
// Every report takes its sentences from this package and only lays them out; no code reads
// a fact back out of a sentence.
//
// [Clauses] describes a run as clauses, one for each thing that happened; a timeline shows
// one on each line. Each file covers one subject: steps.go what the clients do, keys.go
// what happens to the keys of a lock, leases.go, storage.go, messages.go, and processes.go
// the faults and their effects on processes and clocks. folds.go merges similar clauses.
// [Marked] adds the important moments, and [DataSummary] and [LockSummary] summarize the
// result. stretches.go describes what a diagram draws as a period of time, and caption.go
// describes things in the few words for which a storyboard has room. fault.go and point.go
// contain the words for faults and points.
//
// [NewParagraph] describes a run in a short [Paragraph] that leaves out everything that did
// not contribute to the damage. narration.go and the paragraph_ files make the statements,
// sentences.go joins them into sentences, and title.go, ending.go, why.go and lesson.go
// describe the result.
//
// Clauses contain names and errors from outside unchanged; they are escaped when they are
// shown: see [Raw]. figures.go formats times, durations and tokens; words.go formats lists
// and counts.
package story
