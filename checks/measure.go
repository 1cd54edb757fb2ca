package checks

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
)

// A Measure is what a run says of one thing that a lock costs, or of how long
// its clients wait. It is computed from the trace alone.
type Measure struct {
	// Name is what scenarios and programs call it, Title one line for people.
	Name, Title string
	// Figures are its numbers, in a fixed order. One that the run cannot give,
	// such as the median of nothing, is left out.
	Figures []Figure
	// Says is what is told of it: why there are no figures at all, if there are none.
	Says Reason
}

// A Figure is one number of a measure.
type Figure struct {
	// Name tells it from the measure's others.
	Name  string
	Unit  Unit
	Value int64
}

// Unit is what a figure counts.
type Unit string

const (
	// Nanoseconds of true time.
	Nanoseconds Unit = "ns"
	// Count is a plain number, and Hundredths a hundred times one.
	Count      Unit = ""
	Hundredths Unit = "hundredths"
	// Percent is a share.
	Percent Unit = "percent"
)

// A measure of a run. To add one, write a file that declares it and enter it in
// the list below.
type measure struct {
	name, title string
	// headline are the figures that are enough where there is no room for all.
	headline []string
	take     func(*inquiry) Measure
}

// measures lists all of them: how long clients wait, what that costs, and what
// comes of it.
var measures = []measure{
	timeToAcquire,
	timeHeld,
	waitAfterCrash,
	lossNoticed,
	attempts,
	fairness,
	splitVotes,
	lockCommands,
	notifications,
	traffic,
	renewals,
	releases,
	sectionsDone,
	refused,
	refusedWork,
}

// MeasureNames lists the measures in the order in which they are reported.
func MeasureNames() []string {
	names := make([]string, len(measures))
	for i, m := range measures {
		names[i] = m.name
	}
	return names
}

// Headline names the figures of a measure that are enough where there is no room for all.
func Headline(name string) []string {
	for _, m := range measures {
		if m.name == name {
			return m.headline
		}
	}
	return nil
}

// Measures takes every measure of a run, in the order of [MeasureNames].
func Measures(of *history.History) []Measure {
	h := &inquiry{of}
	all := make([]Measure, len(measures))
	for i, m := range measures {
		all[i] = m.take(h)
		all[i].Name, all[i].Title = m.name, m.title
	}
	return all
}

func absent(why Reason) Measure { return Measure{Says: why} }

// ratio is a over b, rounded to the nearest whole number.
func ratio(a, b int64) int64 { return (a + b/2) / b }

// median is the middle one of some times, or half way between the middle two.
// There must be one at least.
func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	upper := sorted[len(sorted)/2]
	lower := sorted[(len(sorted)-1)/2]
	return lower + (upper-lower)/2
}

// percentile is the least time that at least p per cent of some times do not exceed. There
// must be one at least.
func percentile(times []time.Duration, p int) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}
