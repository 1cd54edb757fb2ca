// Package exercises has the exercises of locksim learn, and grades them.
//
// The exercise in Go is a lock that the reader improves in seven stages. Each stage is a
// property of the lock. Hidden worlds, which are scenarios with faults, show whether the
// lock has the property. A program is compiled into the reader's module by an overlay, so
// no file of the reader is changed. It runs the worlds and writes their traces. This
// package judges the traces.
//
// The exercises in YAML are scenarios that the reader changes. This package runs them.
package exercises
