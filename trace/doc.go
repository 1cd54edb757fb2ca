// Package trace holds the record of one run of a world, and the vocabulary for describing it:
// events and their processes, points, messages, steps, tasks and witnesses. All of these except
// events and processes have a text form, whose grammar is in this package.
//
// The package contains only data and grammar. Package history derives keys, leases, clocks and
// critical sections from a trace, and package checks judges what a trace proves about the lock.
package trace
