package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

func init() {
	Runs.Register(Format[Results]{Name: "github", Title: "GitHub Actions: what is not as expected becomes an annotation at its line of the scenario file", Write: writeGitHub})
}

// writeGitHub writes workflow commands for GitHub Actions. For each run that is not as
// expected, or whose verdict is unknown, it writes an error. The error points to the line
// of the scenario file that states the expectation. For a scenario without any expectation,
// which cannot fail, it writes one notice. The last line, which is not a command, counts
// all results.
func writeGitHub(w io.Writer, results []*scenarios.Result, o Options) error {
	var b strings.Builder
	for _, r := range results {
		for _, run := range r.Runs {
			switch standingOfRun(run) {
			case NotAsExpected, Undecided:
				message := visibleTexts(slices.Concat(complaintsOfRun(run), explanationLines(run)))
				message = append(message, "replay: "+replay(r, o))
				annotate(&b, "error", r, o, run, runTitle(run)+": "+complaintTitle(run), message)
			}
		}
		silent := func(run scenarios.RunResult) bool { return run.Expected == nil }
		if i := slices.IndexFunc(r.Runs, silent); i >= 0 && StandingOf(r) == NothingExpected {
			annotate(&b, "notice", r, o, r.Runs[i], "nothing is checked", []string{nothingExpected(r.Runs[i])})
		}
	}
	fmt.Fprintln(&b, summary(results))
	_, err := io.WriteString(w, b.String())
	return err
}

// annotate writes one command about a run. GitHub can show a line of a file only if the
// command line gave the scenario as a file.
func annotate(b *strings.Builder, command string, r *scenarios.Result, o Options, run scenarios.RunResult, title string, message []string) {
	var properties []string
	add := func(name, value string) { properties = append(properties, name+"="+githubProperty(value)) }
	if file := fileOf(r.Scenario, o); file != "" {
		add("file", file)
		if line := run.Variant.ExpectationLine(run.Lock, run.Fencing); line > 0 {
			add("line", fmt.Sprint(line))
		}
	}
	add("title", story.Visible(r.Scenario.Name)+", "+title)
	fmt.Fprintf(b, "::%s %s::%s\n", command, strings.Join(properties, ","), githubData(strings.Join(message, "\n")))
}

// The characters that have a meaning in a command, each followed by its code. GitHub's
// runner reads a command up to the end of its line, and each property of a command up to
// the next comma or colon. It then decodes the codes.
var (
	githubDataCodes     = []string{"%", "%25", "\r", "%0D", "\n", "%0A"}
	githubPropertyCodes = append(slices.Clone(githubDataCodes), ":", "%3A", ",", "%2C")
)

// githubData encodes a text as the message of a command, and githubProperty as the value of
// a property.
func githubData(s string) string     { return strings.NewReplacer(githubDataCodes...).Replace(s) }
func githubProperty(s string) string { return strings.NewReplacer(githubPropertyCodes...).Replace(s) }
