package reports

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/commandline"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// Replay returns the command that runs a scenario again in the same way. If only a saved
// trace is known and not the scenario, it returns the command that reports the trace again.
func Replay(s *scenarios.Scenario, runOptions scenarios.RunOptions, o Options) string {
	return replayOf("run", s, s.Variants, "", runOptions, o)
}

// replay returns the command that repeats exactly the runs of a result.
func replay(r *scenarios.Result, o Options) string { return replayBy("run", r, o) }

// replayBy is like replay, with another command that runs scenarios.
func replayBy(command string, r *scenarios.Result, o Options) string {
	for _, run := range r.Runs {
		if run.History != nil && run.History.Trace.Real != "" && o.Traces[r.Scenario] == "" {
			return run.History.Trace.Real
		}
	}
	runOptions := scenarios.RunOptions{Seed: r.Seed}
	var variants []*scenarios.Variant
	var fencings []string
	for _, run := range r.Runs {
		if run.Lock != run.Variant.Lock {
			runOptions.Lock = run.Lock
		}
		if !slices.Contains(variants, run.Variant) {
			variants = append(variants, run.Variant)
		}
		if !slices.Contains(fencings, run.Fencing) {
			fencings = append(fencings, run.Fencing)
		}
	}
	fencing := ""
	if len(fencings) == 1 {
		fencing = fencings[0]
	}
	return replayOf(command, r.Scenario, variants, fencing, runOptions, o)
}

// replayOf returns the command that runs some variants of a scenario. If fencing is "", the
// command runs both runs of each variant.
func replayOf(command string, s *scenarios.Scenario, variants []*scenarios.Variant, fencing string, runOptions scenarios.RunOptions, o Options) string {
	if file := o.Traces[s]; file != "" {
		if file == "-" {
			return "locksim report -" // the trace was read from standard input
		}
		if o.published {
			file = publicFile(file)
		}
		return "locksim report " + Operand(file)
	}
	return commandline.Repeat(command, Operand(o.operandFor(s)), s, variants, fencing, runOptions)
}

// overriddenCommand returns a command about the only variant of a scenario, with these
// overrides in place of its own.
func overriddenCommand(name string, s *scenarios.Scenario, overrides []string, runOptions scenarios.RunOptions, o Options) string {
	changed := *s
	changed.Overrides = overrides
	o.Arguments = map[*scenarios.Scenario]string{&changed: o.operandFor(s)}
	return replayOf(name, &changed, s.Variants, "", runOptions, o)
}

// Operand returns the name of a file or scenario as a command line gives it: quoted for the
// shell if necessary, and with a prefix if it would look like a flag.
func Operand(name string) string {
	if strings.HasPrefix(name, "-") {
		name = "./" + name
	}
	return story.ShellWord(name)
}
