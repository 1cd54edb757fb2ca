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
func (o Options) forOthers() Options {
	o.published, o.Palette = true, Palette{}
	return o
}

// operandFor returns the operand by which a command names a scenario. In a published report
// it is the name of a built-in scenario, and otherwise a file.
func (o Options) called(s *scenarios.Scenario) string {
	file := cmp.Or(o.Arguments[s], s.File)
	switch {
	case !o.published:
		return file
	case s.BuiltIn():
		return s.Name
	}
	return fileForOthers(file)
}

// publicFile returns the name of a file as others can use it: a relative path unchanged,
// otherwise its last element.
func fileForOthers(file string) string {
	if file == "" || isFromHere(file) {
		return file
	}
	return path.Base(strings.ReplaceAll(file, `\`, "/"))
}

// isRelative reports whether a path is relative to the directory in which locksim ran. The
// path may have been saved on another system.
func isFromHere(file string) bool {
	return file != "" && !path.IsAbs(file) && !elsewhereOnWindows().MatchString(file)
}

var elsewhereOnWindows = lazy.Regexp(`^([A-Za-z]:|\\)`)
