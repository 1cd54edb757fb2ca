package checks

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
)

// A Measure is a cost of the lock in a run, or how long its clients wait. It is computed
// from the trace alone.
type Measure struct {
	// Name is the name of the measure in scenarios and programs; Title describes the measure in one
	// line for people.
	Name, Title string
	// Figures are the numbers of the measure, in a fixed order. A number that the run does not
	// have, such as the median of no values, is left out.
	Figures []Figure
	// Summary describes the figures in words, or says why there are none.
	Summary Reason
}

// A Figure is one number of a measure.
type Figure struct {
	// Name distinguishes the figure from the measure's other figures.
	Name  string
	Unit  Unit
	Value int64
}

// A Unit is what a figure counts.
type Unit string

const (
	// Nanoseconds of true time.
	Nanoseconds Unit = "ns"
	// Count is a plain number. Hundredths is a number times a hundred.
	Count      Unit = ""
	Hundredths Unit = "hundredths"
	// Percent is a share.
	Percent Unit = "percent"
)

// A measure computes a [Measure] of a run. To add one, write a file that declares it and
// add it to the list below.
type measure struct {
	name, title string
	// headline names the figures that are shown where there is no room for all.
	headline []string
	// take computes the measure.
	take func(*judgedRun) Measure
}

// measures lists all measures: how long clients wait, what the lock costs, and what work
// gets done.
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

// Headline names the figures of a measure to show where there is no room for all.
func Headline(name string) []string {
	for _, m := range measures {
		if m.name == name {
			return m.headline
		}
	}
	return nil
}

// Measures computes all measures of a run, in the order of [MeasureNames].
func Measures(runHistory *history.History) []Measure {
	h := &judgedRun{runHistory}
	all := make([]Measure, len(measures))
	for i, m := range measures {
		all[i] = m.take(h)
		all[i].Name, all[i].Title = m.name, m.title
	}
	return all
}

// noMeasure returns a measure without figures; why says why there are none.
func noMeasure(why Reason) Measure { return Measure{Summary: why} }

// ratio returns a/b, rounded to the nearest whole number.
func ratio(a, b int64) int64 { return (a + b/2) / b }

// median returns the median of times; there must be at least one.
func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	upper := sorted[len(sorted)/2]
	lower := sorted[(len(sorted)-1)/2]
	return lower + (upper-lower)/2
}

// percentile returns the smallest time t in times such that at least p per cent of the times are t
// or less. There must be at least one time.
func percentile(times []time.Duration, p int) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}
