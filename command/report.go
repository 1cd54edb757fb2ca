package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

func reportCommand() *cobra.Command {
	f := &reportFlags{}
	cmd := &cobra.Command{
		Use:   "report FILE...",
		Short: "Report on saved traces, and check them again",
		Long: `Report, in any format, on traces that locksim run --format trace has saved, and check
them again with the current checks. Nothing is run. If the findings differ from those
when the traces were saved, notes on standard error say so.

A FILE can also be a single trace in JSON, which a program that uses the package sim
can write; nothing is expected of such a trace. "-" is standard input.

The verdict is unknown if the events of a trace were changed after it was saved, or if
its scenario cannot be read any more.

Exit status:
  0  every verdict is as its scenario expects, or nothing is expected
  1  some verdict is not as expected, or is unknown
  2  bad usage or a bad file; nothing was written`,
		Example: `  locksim run gc-pause --format trace -o trace.json
  locksim report trace.json
  locksim report trace.json --format html -o gc-pause.html
  locksim report *.json --format html -o site/
  zcat trace.json.gz | locksim report - --format json`,
		Args:              requireTraces,
		ValidArgsFunction: cobra.FixedCompletions([]cobra.Completion{"json"}, cobra.ShellCompDirectiveFilterFileExt),
		RunE:              func(cmd *cobra.Command, args []string) error { return f.report(cmd, args) },
	}
	f.define(cmd, completeSavedVariants)
	return cmd
}

// requireTraces returns an error if the command line names no file of traces.
func requireTraces(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("locksim report: name a file of saved traces; locksim run --format trace -o FILE makes one")
	}
	return nil
}

// report checks the saved traces again, and writes the report.
func (f *reportFlags) report(cmd *cobra.Command, args []string) error {
	format, err := f.check()
	if err != nil {
		return err
	}
	saved, err := readSaved(cmd.InOrStdin(), args)
	if err != nil {
		return err
	}
	if err := f.checkRoom(format, len(saved.Results)); err != nil {
		return err
	}
	report, err := f.options()
	if err != nil {
		return err
	}
	report.Arguments, report.Traces = saved.Arguments, saved.Traces
	results, err := f.runChoice.selectRuns(saved.Results, &report)
	if err != nil {
		return err
	}
	sources := append(fileSources("the report of a search", f.explored...), savedSources(cmd.InOrStdin(), args)...)
	if err := f.prepare(cmd, format, results, report, sources); err != nil {
		return err
	}
	for _, note := range saved.Notes {
		printLine(cmd.ErrOrStderr(), "%s", note)
	}
	if err := f.write(cmd, format, results, report); err != nil {
		return err
	}
	return checkResults(results)
}

// readSaved reads all files. The error contains the problems of all files.
func readSaved(stdin io.Reader, files []string) (*reports.Saved, error) {
	all := &reports.Saved{Arguments: map[*scenarios.Scenario]string{}, Traces: map[*scenarios.Scenario]string{}}
	var errs []error
	for _, name := range files {
		saved, err := readSavedFile(stdin, name)
		if err != nil {
			errs = append(errs, fmt.Errorf("locksim: %s: %w", name, err))
			continue
		}
		all.Results = append(all.Results, saved.Results...)
		all.Notes = append(all.Notes, saved.Notes...)
		maps.Copy(all.Arguments, saved.Arguments)
		maps.Copy(all.Traces, saved.Traces)
	}
	return all, errors.Join(errs...)
}

// savedSources returns the files of saved traces as sources, which no report may replace.
func savedSources(stdin io.Reader, names []string) []source {
	var all []source
	for _, name := range names {
		if name == "-" {
			all = append(all, sourceStdin("the saved trace", stdin)...)
			continue
		}
		all = append(all, fileSource("the saved trace", name))
	}
	return all
}

// readSavedFile reads one file of saved traces; "-" is standard input.
func readSavedFile(stdin io.Reader, name string) (*reports.Saved, error) {
	read := func() ([]byte, error) { return tracesFile.readFile(name) }
	if name == "-" {
		read = func() ([]byte, error) { return tracesFile.read(stdin) }
	}
	data, err := read()
	if err != nil {
		return nil, err
	}
	saved, err := reports.ReadTraces(data, name)
	var noJSON *json.SyntaxError
	if isYAML(name) && errors.As(err, &noJSON) {
		return nil, fmt.Errorf("it is a scenario, not a saved trace; run it with locksim run %s", reports.Operand(name))
	}
	return saved, err
}

// isYAML reports whether a file name has the extension of a scenario file.
func isYAML(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".yaml" || ext == ".yml"
}

// completeSavedVariants completes the names of the variants in the files on the command
// line.
func completeSavedVariants(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var words []cobra.Completion
	if saved, err := readSaved(strings.NewReader(""), args); err == nil {
		for _, r := range saved.Results {
			words = append(words, variantsOf(r.Scenario)...)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
