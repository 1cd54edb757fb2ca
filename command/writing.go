package command

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// writeFlags are the flags of every command that writes about a kind of subject: the format
// and the destination.
type writeFlags[S any] struct {
	subject        *reports.Subject[S]
	format, output string
	// destination is where the report goes, unless it is a folder. sources are the files
	// that the report must not replace.
	destination *destination
	sources     []source
}

// define adds the flags to a command that writes a thing, such as "report".
func (f *writeFlags[S]) define(cmd *cobra.Command, thing string, subject *reports.Subject[S]) {
	f.subject = subject
	names := f.formatNames(func(reports.Format[S]) bool { return true })
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "text", strings.Join(names, ", "))
	flags.VarP((*outputName)(&f.output), "output", "o", "write the "+thing+" to this `file`, as a whole or not at all; - is standard output")
	complete(cmd, "format", names)
}

// formatNames returns the names of the formats that accept selects.
func (f *writeFlags[S]) formatNames(accept func(reports.Format[S]) bool) []string {
	var names []string
	for _, format := range f.subject.Formats() {
		if accept(format) {
			names = append(names, format.Name)
		}
	}
	return names
}

// chosenFormat returns the format that the flags ask for. If it is not known, the error
// suggests the one that was probably meant.
func (f *writeFlags[S]) chosenFormat() (reports.Format[S], error) {
	format, known := f.subject.Lookup(f.format)
	if !known {
		names := f.formatNames(func(reports.Format[S]) bool { return true })
		return format, fmt.Errorf("locksim: there is no format %q; %s", f.format, scenarios.DidYouMean(f.format, names))
	}
	return format, nil
}

// check checks that the format can be written to the destination, before anything is read.
func (f *writeFlags[S]) check(format reports.Format[S]) (err error) {
	switch {
	case f.writesPages(format):
		return checkFolder(f.output)
	case isFolder(f.output):
		return f.folderError()
	}
	f.destination, err = findDestination(f.output)
	return err
}

// prepare checks, before anything is run, that the report would replace neither a source
// nor, in a folder, anything that is not a page. subject is what will be reported, as far
// as the names of its pages depend on it.
func (f *writeFlags[S]) prepare(cmd *cobra.Command, format reports.Format[S], subject S, o reports.Options, sources []source) error {
	f.sources = sources
	if f.writesPages(format) {
		return checkPages(f.output, format.Names(subject, o), sources)
	}
	if err := f.destination.refuseSources(cmd.OutOrStdout(), sources); err != nil {
		return err
	}
	return f.destination.prepare(cmd.OutOrStdout())
}

// writesPages reports whether the report is a folder of pages: -o names a folder, and the
// format has pages.
func (f *writeFlags[S]) writesPages(format reports.Format[S]) bool {
	return hasPages(format) && isFolder(f.output)
}

func hasPages[S any](format reports.Format[S]) bool { return format.Pages != nil }

// folderError returns the error of a folder for a format that writes one file.
func (f *writeFlags[S]) folderError() error {
	remedy := "name a file in it"
	if _, err := os.Stat(f.output); err != nil {
		remedy = "leave the slash out"
	}
	if filling := f.formatNames(hasPages); len(filling) > 0 {
		remedy += ", or fill it with --format " + strings.Join(filling, ", ")
	}
	return fmt.Errorf("locksim: -o %s is a folder, and --format %s writes one file; %s", f.output, f.format, remedy)
}

// checkRoom checks that a format has room for a number of scenarios.
func (f *writeFlags[S]) checkRoom(format reports.Format[S], scenarios int) error {
	switch {
	case format.Most == 0 || scenarios <= format.Most || f.writesPages(format):
		return nil
	case format.Pages == nil:
		return fmt.Errorf("locksim: --format %s has room for %d scenarios, and there are %d; name fewer", format.Name, format.Most, scenarios)
	}
	return fmt.Errorf("locksim: --format %s has room for %d in one document, and there are %d scenarios; name a folder: -o site/", format.Name, format.Most, scenarios)
}

// write writes the subject to the destination.
func (f *writeFlags[S]) write(cmd *cobra.Command, format reports.Format[S], subject S, o reports.Options) error {
	if f.writesPages(format) {
		return outputError(writeFolder(cmd.ErrOrStderr(), f.output, format.Pages(subject, o), f.sources))
	}
	return outputError(f.destination.output(cmd.OutOrStdout(), o, func(w io.Writer, o reports.Options) error { return format.Write(w, subject, o) }))
}
