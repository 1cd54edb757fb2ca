package command

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// A playTally counts the verdicts of a scenario that is played several times. To play it is to run
// it on real servers.
type playTally struct {
	name string
	// plays is how often the scenario was played, and conclusive how often none of its
	// verdicts was unknown.
	plays, conclusive int
	// verdicts counts the verdicts, by run and verdict.
	verdicts map[string]map[string]int
}

// add counts the verdicts of one play, and reports whether it was conclusive.
func (t *playTally) add(r *scenarios.Result) bool {
	t.plays++
	isConclusive := true
	for _, run := range r.Runs {
		label := labelOf(run)
		if t.verdicts[label] == nil {
			t.verdicts[label] = map[string]int{}
		}
		t.verdicts[label][run.Verdict.Verdict]++
		isConclusive = isConclusive && len(run.Verdict.Reasons) == 0
	}
	if isConclusive {
		t.conclusive++
	}
	return isConclusive
}

// isMixed reports whether a run was both safe and unsafe.
func (t *playTally) isMixed() bool {
	for _, counts := range t.verdicts {
		if counts[checks.Safe] > 0 && counts[checks.Unsafe] > 0 {
			return true
		}
	}
	return false
}

// String returns a line for people.
func (t *playTally) String() string {
	var parts []string
	for _, label := range slices.Sorted(maps.Keys(t.verdicts)) {
		var counts []string
		for _, verdict := range slices.Sorted(maps.Keys(t.verdicts[label])) {
			counts = append(counts, fmt.Sprintf("%s %d times", verdict, t.verdicts[label][verdict]))
		}
		parts = append(parts, label+" "+strings.Join(counts, ", "))
	}
	return fmt.Sprintf("%s was played %d times, %d of them conclusive: %s", t.name, t.plays, t.conclusive, strings.Join(parts, "; "))
}

// labelOf names a run of a scenario.
func labelOf(run scenarios.RunResult) string {
	label := "without fencing"
	if run.Fencing == scenarios.On {
		label = "with fencing"
	}
	if run.Variant.Name != "" {
		label = run.Variant.Name + ", " + label
	}
	return label
}

// compare simulates the scenarios that were played, prints where the two differ, and reports
// whether they do. A property that is unknown in the real run does not differ.
func (f *realityFlags) compare(out io.Writer, played []*scenarios.Result) (differs bool, err error) {
	for _, r := range played {
		for _, run := range r.Runs {
			simulated, err := run.Variant.Run(scenarios.RunOptions{Lock: run.Lock, Seed: 1}, run.Fencing)
			if err != nil {
				return false, fmt.Errorf("the simulation of %s: %w", titleOf(run.Variant), err)
			}
			agreed, lines := comparison(run, simulated)
			differs = differs || len(lines) > 0
			printLine(out, "%s, %s, compared with the simulation: %s", r.Scenario.Name, labelOf(run), agreed)
			for _, line := range lines {
				printLine(out, "  %s", line)
			}
		}
	}
	return differs, nil
}

// comparison compares a real run with a simulated one. agreed says how much is equal, and
// lines are the differences.
func comparison(real, simulated scenarios.RunResult) (agreed string, lines []string) {
	equal, unknown := 0, 0
	for _, s := range simulated.Verdict.Findings {
		switch r := real.Verdict.Finding(s.Property); {
		case r.Outcome == s.Outcome:
			equal++
		case r.Outcome == checks.Unknown:
			unknown++
		default:
			lines = append(lines, fmt.Sprintf("%s: %s here, %s in the simulation: %s", s.Property, r.Outcome, s.Outcome, story.ForPrograms.Reason(moreTelling(r, s))))
		}
	}
	for _, r := range real.Verdict.Findings {
		isSimulated := slices.ContainsFunc(simulated.Verdict.Findings, func(s checks.Finding) bool { return s.Property == r.Property })
		if !isSimulated && r.Outcome == checks.Violated {
			lines = append(lines, fmt.Sprintf("%s: violated here: %s", r.Property, story.ForPrograms.Reason(r.Reason)))
		}
	}
	agreed = fmt.Sprintf("the verdict is %s here and %s there; %d of %d properties agree", real.Verdict.Verdict, simulated.Verdict.Verdict, equal, len(simulated.Verdict.Findings))
	if unknown > 0 {
		agreed += fmt.Sprintf(", and %d are unknown here: %s", unknown, story.ForPrograms.Reason(firstReason(real.Verdict)))
	}
	return agreed, lines
}

// moreTelling returns the reason of a if a is a violation or b has no reason. Otherwise it
// returns the reason of b.
func moreTelling(a, b checks.Finding) checks.Reason {
	if a.Outcome == checks.Violated || b.Reason.IsZero() {
		return a.Reason
	}
	return b.Reason
}

// firstReason returns why something is unknown in a run.
func firstReason(v *checks.Verdict) checks.Reason {
	if len(v.Reasons) > 0 {
		return v.Reasons[0]
	}
	for _, f := range v.Findings {
		if f.Outcome == checks.Unknown {
			return f.Reason
		}
	}
	return checks.Reason{}
}
