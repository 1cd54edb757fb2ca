package command

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/storyboard"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// reportFlags are the flags of the commands that report on runs. They say which runs, and
// how to report on them.
type reportFlags struct {
	writeFlags[reports.Results]
	runChoice
	messages bool
	style    string
	explored []string
}

// styles are the values of --style.
var styles = []string{storyboard.FullStyle, storyboard.StoryboardStyle}

// define adds the flags to a command. variants completes the name of a variant.
func (f *reportFlags) define(cmd *cobra.Command, variants cobra.CompletionFunc) {
	f.writeFlags.define(cmd, "report", reports.Runs)
	f.runChoice.define(cmd, variants)
	flags := cmd.Flags()
	flags.Lookup("output").Usage = "write the report to this `file`, as a whole or not at all; if you name a folder, as in site/, it gets a page for each part of the report; - is standard output"
	flags.BoolVar(&f.messages, "messages", false, "add every message to the timeline")
	flags.StringVar(&f.style, "style", "", "of a picture: full shows everything; storyboard shows what matters, as a slide (default: full in svg and png, both in html)")
	complete(cmd, "style", styles)
	flags.StringArrayVar(&f.explored, "explored", nil, "add to a site what locksim explore has found: a `file` with its JSON report; can be given several times")
}

// check checks the values of the flags, before any file is read.
func (f *reportFlags) check() (reports.Format[reports.Results], error) {
	format, err := f.chosenFormat()
	if err == nil {
		err = f.runChoice.check()
	}
	switch {
	case err != nil:
		return format, err
	case f.style != "" && !slices.Contains(styles, f.style):
		return format, fmt.Errorf("locksim: there is no style %q; %s", f.style, oneOf(f.style, styles))
	case f.style != "" && !slices.Contains([]string{"svg", imageFormat, "html"}, format.Name):
		return format, fmt.Errorf("locksim: --style is for pictures, and --format %s has none; add --format svg or --format html", format.Name)
	case len(f.explored) > 0 && !f.writesPages(format):
		return format, errors.New("locksim: --explored adds pages to a site, and the report is not a site; write one with --format html -o site/")
	}
	return format, f.writeFlags.check(format)
}

// options returns the options for the report.
func (f *reportFlags) options() (reports.Options, error) {
	o := reports.Options{Messages: f.messages, Style: f.style, Arguments: map[*scenarios.Scenario]string{}, Traces: map[*scenarios.Scenario]string{}}
	for _, name := range f.explored {
		found, err := readExplored("--explored", name)
		if err != nil {
			return o, err
		}
		o.Explored = append(o.Explored, found)
	}
	return o, nil
}

// readExplored reads a report of locksim explore. flag is the flag that names it, for
// errors.
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
