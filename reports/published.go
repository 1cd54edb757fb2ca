package reports

import (
	"cmp"
	"path"
	"strings"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/scenarios"
)

// forOthers are the options of a page, or of what a pull request shows: it is put where
// others read it, and must not tell them in whose folder it was made. A terminal, and a
// program that opens the files, has them as the command line named them.
func (o Options) forOthers() Options {
	o.published, o.Palette = true, Palette{}
	return o
}

// called is what a command calls a scenario. For others it is its name if it is one that is
// built in, and otherwise a file.
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

// fileForOthers is the name of a file as it means something to others: a path from where
// they stand, or its last part.
func fileForOthers(file string) string {
	if file == "" || isFromHere(file) {
		return file
	}
	return path.Base(strings.ReplaceAll(file, `\`, "/"))
}

// isFromHere reports whether a path begins where locksim ran. It may be one that was saved
// on another system.
func isFromHere(file string) bool {
	return file != "" && !path.IsAbs(file) && !elsewhereOnWindows().MatchString(file)
}

var elsewhereOnWindows = lazy.Regexp(`^([A-Za-z]:|\\)`)
