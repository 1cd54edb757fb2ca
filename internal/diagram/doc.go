// Package diagram draws what happened in runs: as space-time diagrams, which have a lane
// for each process and time from left to right ([Draw]), and as sequence diagrams in the
// language of Mermaid ([Sequence]).
//
// A space-time diagram is made in three steps. First, diagram.go and the files that each
// read one part of a history, such as bands.go, find what is visible and when. Then
// layout.go and the files with its methods give everything a position on a time axis, which
// all runs of one world share. Last, svg.go writes the [Figure].
package diagram
