package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/scenarios"
)

// showRefused shows how much work a storage refuses, for several numbers of clients, over
// twenty seeds. The variants of the file are called none-N and lock-N for N clients.
func showRefused(t *testing.T, file, _ string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenarios.Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("\n| clients | no lock: sections refused | of their time | changes in a second | with a lock: sections refused | changes in a second | commands to the lock, per change |\n|---|---|---|---|---|---|---|\n")
	for _, v := range s.Variants {
		n, withoutLock := strings.CutPrefix(v.Name, "none-")
		if !withoutLock {
			continue
		}
		i := slices.IndexFunc(s.Variants, func(o *scenarios.Variant) bool { return o.Name == "lock-"+n })
		if i < 0 {
			t.Fatalf("%s has a variant %s, but no variant with a lock for as many clients", file, v.Name)
		}
		without, with := sumMeasures(t, v), sumMeasures(t, s.Variants[i])
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", n,
			without.share("refused sections", "sections"), without.share("refused time", "time"), without.rate(),
			with.share("refused sections", "sections"), with.rate(), with.ratio("sent", "completed"))
	}
	return b.String() + "\n"
}

// sums are the sums of measures over some runs, by the names of the figures.
type sums struct {
	values map[string]int64
	runs   int64
}

// sumMeasures returns the sums of a variant's runs with fencing. It fails if a run is not safe.
func sumMeasures(t *testing.T, v *scenarios.Variant) sums {
	all := sums{values: map[string]int64{}}
	for seed := range uint64(20) {
		runs, notApplicable, err := v.RunBoth(scenarios.RunOptions{Seed: seed + 1})
		if err != nil || notApplicable != "" {
			t.Fatal(err, notApplicable)
		}
		for _, run := range runs {
			if run.Fencing != scenarios.On {
				continue
			}
			if run.Verdict.Verdict != checks.Safe {
				t.Errorf("%s, seed %d: the run with fencing is %s, want safe", v.Name, seed+1, run.Verdict.Verdict)
			}
			all.runs++
			for _, m := range run.Measures {
				for _, f := range m.Figures {
					all.values[f.Name] += f.Value
				}
			}
		}
	}
	return all
}

// share returns a sum as a percentage of another sum.
func (s sums) share(part, whole string) string {
	return fmt.Sprintf("%.0f %%", 100*float64(s.values[part])/float64(s.values[whole]))
}

// ratio returns a sum divided by another sum.
func (s sums) ratio(what, by string) string {
	return strconv.FormatFloat(float64(s.values[what])/float64(s.values[by]), 'f', 1, 64)
}

// rate returns the number of changes in a second, from those in a minute of each run.
func (s sums) rate() string {
	return strconv.FormatFloat(float64(s.values["per minute"])/60/float64(s.runs), 'f', 0, 64)
}
