package command

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// extensions has, for an extension of a file name, the formats that such a file can have.
// The first is the one that -o chooses. The format text has no extension of its own: see
// isForPeople.
var extensions = []struct {
	name    string
	formats []string
}{
	{".edn", []string{"edn"}},
	{".html", []string{"html"}},
	{".htm", []string{"html"}},
	{".json", []string{"json", "trace", "jsonl"}},
	{".jsonl", []string{"jsonl"}},
	{".ndjson", []string{"jsonl"}},
	{".xml", []string{"junit"}},
	{".md", []string{"markdown", "mermaid"}},
	{".markdown", []string{"markdown", "mermaid"}},
	{".mmd", []string{"mermaid"}},
	{".png", []string{imageFormat}},
	{".svg", []string{"svg"}},
}

// chooseByExtension sets the format by the extension of the file that -o names, if no flag names
// a format. It fails if a flag names a format that does not fit the extension.
func (f *writeFlags[S]) chooseByExtension() error {
	extension, fitting := extensionOf(f.output)
	known := f.formatNames(isAnyFormat)
	switch {
	case len(fitting) == 0 || isFolder(f.output) || slices.Contains(fitting, f.format):
		return nil
	case f.formatFlag != nil && f.formatFlag.Changed:
		return fmt.Errorf("locksim: the name -o %s is for --format %s, but --format is %s; leave --format out, or name a file that ends in %s", f.output, fitting[0], f.format, usualExtension(f.format))
	case !slices.Contains(known, fitting[0]) && !(fitting[0] == imageFormat && slices.Contains(known, "svg")):
		return fmt.Errorf("locksim: -o %s: this command writes no file that ends in %s; name another file, or choose one of the formats with --format: %s", f.output, extension, strings.Join(known, ", "))
	}
	f.format = fitting[0]
	return nil
}

// refuseUnknownExtension returns an error if -o names a file whose extension no format has, and no
// flag names a format: its author may have meant another format than text.
func (f *writeFlags[S]) refuseUnknownExtension() error {
	extension, fitting := extensionOf(f.output)
	if len(fitting) > 0 || f.formatFlag == nil || f.formatFlag.Changed || isForPeople(extension) {
		return nil
	}
	return fmt.Errorf("locksim: -o %s: no format has files that end in %s; name a file that ends in %s, or choose one of the formats with --format: %s",
		f.output, extension, usualExtension(f.format), strings.Join(f.formatNames(isAnyFormat), ", "))
}

// isForPeople reports whether an extension names no format, but only a text for people, such as
// .txt. It is true for "".
func isForPeople(extension string) bool {
	return slices.Contains([]string{"", ".", ".txt", ".text", ".log", ".out"}, extension)
}

// extensionOf returns the extension of a file name, and the formats that such a file can
// have; none if no format has this extension.
func extensionOf(file string) (name string, formats []string) {
	name = strings.ToLower(filepath.Ext(file))
	for _, e := range extensions {
		if e.name == name {
			return name, e.formats
		}
	}
	return name, nil
}

// usualExtension returns an extension for files with a format.
func usualExtension(format string) string {
	for _, e := range extensions {
		if slices.Contains(e.formats, format) {
			return e.name
		}
	}
	return ".txt"
}
