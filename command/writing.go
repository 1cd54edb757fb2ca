package command

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locksim/locksim/reports"
)

// imageFormat is the name of the format that package command/png adds.
const imageFormat = "png"

// writeFlags are the flags of every command that writes a report: its format and its
// destination. S is what the report is about.
type writeFlags[S any] struct {
	subject        *reports.Subject[S]
	format, output string
	// formatFlag is the flag --format. Its field Changed says whether the command line has the
	// flag.
	formatFlag *pflag.Flag
	// destination is where the report is written, unless that is a folder. sources are the
	// files that the report must not replace.
	destination *destination
	sources     []source
}

// define adds the flags to a command; thing names the report in the help.
func (f *writeFlags[S]) define(cmd *cobra.Command, thing string, subject *reports.Subject[S]) {
	f.subject = subject
	names := f.formatNames(isAnyFormat)
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "text", strings.Join(names, ", ")+"; without this flag, the extension of -o chooses the format, as in -o report.html")
	f.formatFlag = flags.Lookup("format")
	flags.VarP((*outputName)(&f.output), "output", "o", "write the "+thing+" to this `file`, as a whole or not at all; - is standard output")
	complete(cmd, "format", names)
}

// isAnyFormat accepts every format.
func isAnyFormat[S any](reports.Format[S]) bool { return true }

// formatNames returns the names of the formats for which accept returns true.
func (f *writeFlags[S]) formatNames(accept func(reports.Format[S]) bool) []string {
	var names []string
	for _, format := range f.subject.Formats() {
		if accept(format) {
			names = append(names, format.Name)
		}
	}
	return names
}

// chosenFormat returns the format that the flags name, or that the extension of -o selects. If it
// does not exist, the error suggests the one that was probably meant.
func (f *writeFlags[S]) chosenFormat() (reports.Format[S], error) {
	format, known := f.subject.Lookup(f.format)
	if known {
		if err := f.chooseByExtension(); err != nil {
			return format, err
		}
		format, known = f.subject.Lookup(f.format)
	}
	if !known {
		if _, hasSVG := f.subject.Lookup("svg"); hasSVG && f.format == imageFormat {
			return format, notLinkedError{fmt.Errorf("locksim: --format %s is not linked into this program, because it needs fonts; locksim-all has it, and --format svg writes the same pictures", f.format)}
		}
		names := f.formatNames(isAnyFormat)
		return format, fmt.Errorf("locksim: there is no format %q; %s", f.format, oneOf(f.format, names))
	}
	return format, nil
}

// check checks that the format can be written to the destination, before any file is read.
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

// prepare checks, before anything is run, that the report does not replace a source, and
// that in a folder it replaces only pages of a report. subject is what the report will be
// about. The names of the pages depend on it; its results may be missing.
func (f *writeFlags[S]) prepare(cmd *cobra.Command, format reports.Format[S], subject S, o reports.Options, sources []source) error {
	f.sources = sources
	if format.Name == imageFormat && f.output == "" && isTerminal(cmd.OutOrStdout()) {
		return fmt.Errorf("locksim: --format %s writes an image, which a terminal does not show; name a file for it: -o picture.png", format.Name)
	}
	if f.writesPages(format) {
		return checkPages(f.output, format.Names(subject, o), sources)
	}
	if err := f.destination.refuseSources(cmd.OutOrStdout(), sources); err != nil {
		return err
	}
	if err := f.refuseUnknownExtension(); err != nil {
		return err
	}
	return f.destination.prepare(cmd.OutOrStdout())
}

// writesPages reports whether the report consists of pages in a folder: -o names a folder,
// and the format has pages.
func (f *writeFlags[S]) writesPages(format reports.Format[S]) bool {
	return hasPages(format) && isFolder(f.output)
}

// hasPages reports whether a format can fill a folder with pages.
func hasPages[S any](format reports.Format[S]) bool { return format.Pages != nil }

// folderError returns the error if -o names a folder, but the format writes one file.
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

// checkRoom returns an error if a report in this format cannot contain that many scenarios.
func (f *writeFlags[S]) checkRoom(format reports.Format[S], scenarios int) error {
	switch {
	case format.Most == 0 || scenarios <= format.Most || f.writesPages(format):
		return nil
	case format.Pages == nil:
		return fmt.Errorf("locksim: --format %s has room for %d scenarios, and there are %d; name fewer", format.Name, format.Most, scenarios)
	}
	return fmt.Errorf("locksim: --format %s has room for %d in one document, and there are %d results; name a folder: -o site/", format.Name, format.Most, scenarios)
}

// write writes the report about the subject to the destination.
func (f *writeFlags[S]) write(cmd *cobra.Command, format reports.Format[S], subject S, o reports.Options) error {
	if f.writesPages(format) {
		return outputError(writeFolder(cmd.ErrOrStderr(), f.output, format.Pages(subject, o), f.sources))
	}
	return outputError(f.destination.output(cmd.OutOrStdout(), o, func(w io.Writer, o reports.Options) error { return format.Write(w, subject, o) }))
}
