// Package trace is what a run of a world leaves behind, and the words in which
// one speaks of it: events and the processes they happen to, points in the story,
// messages, steps and witnesses, and their grammar.
//
// It is data and grammar only. What a trace says of keys, leases, clocks and
// sections is read by package history, what it proves is judged by package checks.
package trace
