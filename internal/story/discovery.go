package story

import (
	"fmt"

	"github.com/locksim/locksim/checks"
)

// A Discovery contains the facts for the comments in a scenario file that a search has
// written.
type Discovery struct {
	Lock string
	// InGo reports that the lock is not registered under a name, so the file can
	// be run only from Go.
	InGo bool
	Seed uint64
	// Conduct says how the lock ended the run too early; "" if the run finished.
	Conduct string
	// Idle lists the faults that no witness depends on: if one of them is left out, every witness
	// is still observed. They are counted from 1.
	Idle []int
	// Open lists the runs for which the file expects no definite verdict.
	Open []OpenRun
}

// An OpenRun is a run without a definite verdict. Fencing is "off" or "on", and Why is the
// reason.
type OpenRun struct{ Fencing, Why string }

// Comments returns the paragraphs of the comment in the file.
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
		add("The run does not finish: %s.", d.Conduct)
	}
	for _, fault := range d.Idle {
		add("Without fault %d every witness is still seen: the fault changes no order of events that a witness can express.", fault)
	}
	for _, run := range d.Open {
		add("No verdict is expected for the run with fencing %s: %s.", run.Fencing, run.Why)
	}
	return all
}

// Checksum returns the comment with the checksum of a file that a search has written. The
// search overwrites a file only if its checksum is right, because otherwise somebody has
// edited it.
func Checksum(sum string) string {
	return "Checksum " + sum + ": locksim explore replaces only what it has written."
}

// UndecidedReason says why a verdict is not definite; "" if it is.
func UndecidedReason(v *checks.Verdict) string {
	if len(v.Reasons) > 0 {
		return ForPrograms.Reason(v.Reasons[0])
	}
	for _, f := range v.Findings {
		if f.Outcome == checks.Unknown && !f.Property.Card().ReportOnly {
			return fmt.Sprintf("%s is unknown: %s", f.Property, ForPrograms.Reason(f.Reason))
		}
	}
	return ""
}

// Interrupted is the reason given for a search that the user interrupted.
const Interrupted = "it was interrupted"

// TimeIsUp is the reason given for a search that had no time for all single faults.
const TimeIsUp = "its time limit passed before every single fault had been tried"

// DescribeKinds describes which kinds of faults a search tries: "all", "only crash, pause",
// "all but drift".
func DescribeKinds(only, except []string) string {
	words := "all"
	if len(only) > 0 {
		words = "only " + commaList(only)
	}
	switch {
	case len(except) == 0:
		return words
	case len(only) > 0:
		return words + " but not " + commaList(except)
	}
	return words + " but " + commaList(except)
}
