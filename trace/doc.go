// Package trace holds the record of one run of a world, and the vocabulary for describing
// it: events and the processes they happen to, points, messages, steps and witnesses, with
// the grammar of their text forms.
//
// It contains only data and grammar. Package history derives keys, leases, clocks and
// sections from a trace, and package checks judges what it proves.
package trace
