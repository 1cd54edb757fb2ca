package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/explore"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// reportFlags are the flags of the commands that report on runs: what of them, and
// how.
type reportFlags struct {
	writeFlags
	choice
	messages bool
	explored []string
}

// define adds the flags to a command. variants completes the names of variants.
func (f *reportFlags) define(cmd *cobra.Command, variants cobra.CompletionFunc) {
	formats := names(reports.Formats(), formatName)
	f.writeFlags.define(cmd, "report", strings.Join(formats, ", "), formats)
	for _, format := range reports.Formats() {
		if format.Pages != nil {
			f.filling = append(f.filling, format.Name)
		}
	}
	f.choice.define(cmd, variants)
	flags := cmd.Flags()
	flags.Lookup("output").Usage = "write the report to this `file`, as a whole or not at all; a folder, as in site/, gets a page for each part of it; - is standard output"
	flags.BoolVar(&f.messages, "messages", false, "add every message to the timeline")
	flags.StringArrayVar(&f.explored, "explored", nil, "add what locksim explore has found to a site: a report of it in JSON; may be given for several `file`s")
}

func formatName(f reports.Format) string { return f.Name }

// check sees that the flags make sense, before anything is read.
func (f *reportFlags) check() (reports.Format, error) {
	format, err := chosen(f.format, reports.Formats(), formatName)
	if err == nil {
		err = f.choice.check()
	}
	switch {
	case err != nil:
		return format, err
	case f.pages(format):
		return format, checkFolder(f.output)
	case len(f.explored) > 0:
		return format, errors.New("locksim: --explored adds pages to a site, and no site is asked for; write one with --format html -o site/")
	}
	return format, f.writeFlags.check()
}

// pages reports whether a folder is asked for, of a format that can fill one.
func (f *reportFlags) pages(format reports.Format) bool {
	return format.Pages != nil && isFolder(f.output)
}

// room sees that a format has room for a number of scenarios.
func (f *reportFlags) room(format reports.Format, scenarios int) error {
	switch {
	case format.Most == 0 || scenarios <= format.Most || f.pages(format):
		return nil
	case format.Pages == nil:
		return fmt.Errorf("locksim: --format %s has room for %d at once, and here are %d; name fewer", format.Name, format.Most, scenarios)
	}
	return fmt.Errorf("locksim: --format %s has room for %d in one document, and here are %d scenarios; name a folder: -o site/", format.Name, format.Most, scenarios)
}

// options are the reader's wishes.
func (f *reportFlags) options() (reports.Options, error) {
	o := reports.Options{Messages: f.messages, Arguments: map[*scenarios.Scenario]string{}, Traces: map[*scenarios.Scenario]string{}}
	for _, name := range f.explored {
		found, err := readExplored("--explored", name)
		if err != nil {
			return o, err
		}
		o.Explored = append(o.Explored, found)
	}
	return o, nil
}

// readExplored reads a report of locksim explore that a flag names.
func readExplored(flag, name string) (*explore.Result, error) {
	data, err := exploredFile.readFile(name)
	if err != nil {
		return nil, fmt.Errorf("locksim: %s %s: %w", flag, name, err)
	}
	found, err := reports.ReadExplored(data)
	if err != nil {
		return nil, fmt.Errorf("locksim: %s %s: %w", flag, name, err)
	}
	return found, nil
}

// write writes the report, to where it is asked for.
func (f *reportFlags) write(cmd *cobra.Command, format reports.Format, results []*scenarios.Result, o reports.Options) error {
	if f.pages(format) {
		return unwritten(writeFolder(cmd.ErrOrStderr(), f.output, format.Pages(results, o)))
	}
	return unwritten(output(cmd.OutOrStdout(), f.output, o, func(w io.Writer, o reports.Options) error { return format.Write(w, results, o) }))
}
