// Package trace holds the record of one run of a world, and the vocabulary for describing
// it: events and their processes, points, messages, steps and witnesses. Each of these has
// a text form, whose grammar is in this package.
//
// The package contains only data and grammar. Package history derives keys, leases, clocks
// and sections from a trace, and package checks judges what it proves.
package trace
