package reports

import (
	"cmp"
	"path"
	"strings"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/scenarios"
)

// forPublication returns the options for a page, or for the summary of a pull request.
// Other people read such a report, so it must not show the path of a folder on this
// machine. Reports for terminals and for programs keep the paths from the command line,
// because their readers open the files.
func (o Options) forPublication() Options {
	o.published, o.Palette, o.Width = true, Palette{}, 0
	return o
}

// operandFor returns the name by which a command in the report gives a scenario. In a
// published report it is the name of a built-in scenario, or else a file.
func (o Options) operandFor(s *scenarios.Scenario) string {
	file := cmp.Or(o.Arguments[s], s.File)
	switch {
	case !o.published:
		return file
	case s.BuiltIn():
		return s.Name
	}
	return publicFile(file)
}

// publicFile returns the path of a file for readers on other machines. It returns a
// relative path unchanged, and only the last element of any other path.
func publicFile(file string) string {
	if file == "" || isRelative(file) {
		return file
	}
	return path.Base(strings.ReplaceAll(file, `\`, "/"))
}

// isRelative reports whether a path is relative to the directory in which locksim ran. It
// recognizes absolute paths of all systems, because a path may have been saved on another
// system.
func isRelative(file string) bool {
	return file != "" && !path.IsAbs(file) && !absoluteOnWindows().MatchString(file)
}

// absoluteOnWindows matches the beginning of an absolute path on Windows.
var absoluteOnWindows = lazy.Regexp(`^([A-Za-z]:|\\)`)
