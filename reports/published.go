package reports

import (
	"cmp"
	"path"
	"strings"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/scenarios"
)

// forPublication returns the options of a page or a pull request's summary. Others read it,
// so it must not show in which folder it was made. For a terminal, and for programs that
// open the files, the names stay as they were on the command line.
func (o Options) forPublication() Options {
	o.published, o.Palette = true, Palette{}
	return o
}

// operandFor returns the operand by which a command names a scenario. In a published report
// it is the name of a built-in scenario, and otherwise a file.
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

// publicFile returns the name of a file as others can use it: a relative path unchanged,
// otherwise its last element.
func publicFile(file string) string {
	if file == "" || isRelative(file) {
		return file
	}
	return path.Base(strings.ReplaceAll(file, `\`, "/"))
}

// isRelative reports whether a path is relative to the directory in which locksim ran. The
// path may have been saved on another system.
func isRelative(file string) bool {
	return file != "" && !path.IsAbs(file) && !absoluteOnWindows().MatchString(file)
}

var absoluteOnWindows = lazy.Regexp(`^([A-Za-z]:|\\)`)
