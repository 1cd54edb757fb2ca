package story

import (
	"fmt"

	"github.com/locksim/locksim/checks"
)

// A Discovery is what the comments of a scenario file say that a search has written.
type Discovery struct {
	Lock string
	// InGo says that the lock is not registered, so that only Go can run the file.
	InGo bool
	Seed uint64
	// Conduct is what the lock did that ended the run; "" if it came to its end.
	Conduct string
	// Idle are the faults, from 1, without which every witness would be seen, too.
	Idle []int
	// Open are the runs of which nothing is expected, by their fencing, in order.
	Open []OpenRun
}

// An OpenRun is a run that leaves something open, and what.
type OpenRun struct{ Fencing, Why string }

// Comments are those of the file, one paragraph each.
func (d Discovery) Comments() (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	add("Found by locksim explore --lock %s.", d.Lock)
	switch {
	case d.InGo:
		add("The lock %s is not registered: run it from Go, with scenarios.RunOptions{Seed: %d, Kind: ...}.", d.Lock, d.Seed)
	case d.Seed != 1:
		add("Run it with: locksim run FILE --seed %d", d.Seed)
	default:
		add("Run it with: locksim run FILE")
	}
	if d.Conduct != "" {
		add("It cannot be run to its end: %s.", d.Conduct)
	}
	for _, fault := range d.Idle {
		add("Without fault %d every witness is still seen: it changes no order of events that a witness can tell.", fault)
	}
	for _, run := range d.Open {
		add("Nothing is expected of the run with fencing %s: %s.", run.Fencing, run.Why)
	}
	return all
}

// Checksum is the comment with the checksum of such a file.
func Checksum(sum string) string {
	return "Checksum " + sum + ": locksim explore replaces only what it has written."
}

// Undecided says what a verdict leaves open, or "".
func Undecided(v *checks.Verdict) string {
	if len(v.Reasons) > 0 {
		return InFull.Reason(v.Reasons[0])
	}
	for _, f := range v.Findings {
		if f.Outcome == checks.Unknown && !f.Property.Card().ReportOnly {
			return fmt.Sprintf("%s is unknown, as %s", f.Property, InFull.Reason(f.Reason))
		}
	}
	return ""
}

// Interrupted says why a search ended before its time, if somebody ended it.
const Interrupted = "it was interrupted"

// Kinds are those of the faults that a search tries: "all", "only crash and pause", "all but
// drift".
func Kinds(only, except []string) string {
	words := "all"
	if len(only) > 0 {
		words = "only " + joined(only)
	}
	switch {
	case len(except) == 0:
		return words
	case len(only) > 0:
		return words + " but not " + joined(except)
	}
	return words + " but " + joined(except)
}
