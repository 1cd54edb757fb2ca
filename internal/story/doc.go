// Package story tells in English what happened in a run: from a history, from what package
// checks found, and from the phrases that the faults of a trace bring with them. It is one
// voice: whoever shows a run to people takes the sentences from here and lays them out, and
// nobody reads a fact out of a sentence.
//
// [Of] tells a run as clauses, one for each thing that happened, and a timeline has a line
// for each. A chapter of it is a file: steps.go for what the clients do, keys.go for what
// befalls the keys of a lock, leases.go, storage.go, messages.go, and processes.go for faults
// and what they do to processes and clocks. What is told once for several clauses is in
// folds.go. [Marked] adds the moments that matter, and [OfData] and [OfLock] say what it all
// came to. What takes time, as it is drawn, is told in stretches.go, and what a fault and a
// point are called is in fault.go and point.go.
//
// [Tell] tells a run in a [Paragraph], as people would who leave out what has no part in what
// broke: narration.go and the paragraph_ files state what happened, sentences.go puts the
// statements together, and title.go, ending.go, why.go and lesson.go say what came of it.
//
// Names and errors of others are in a clause as they are, and are shown as text that does
// nothing to its reader: see [Raw]. Times, lengths of time and tokens are written as
// figures.go has it, lists and counts as words.go has it.
package story
