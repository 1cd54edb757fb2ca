// Package story tells in English what happened in a run: from a history, from what package
// checks found, and from the phrases that the faults of a trace bring with them. It is one
// voice: whoever shows a run to people takes the sentences from here and lays them out, and
// nobody reads a fact out of a sentence.
//
// [Of] tells a run as clauses, one for each thing that happened: a chapter of it is a file,
// such as keys.go for what befell the keys of a lock and storage.go for what the storage
// did, and folds.go has what is told once for several clauses. [Marked] adds the moments
// that matter. Names and errors of others are in clauses as they are, and only shown as
// text that does nothing to its reader: see [Raw].
//
// Figures are written as figures.go has it, and lists as words.go has it.
package story
