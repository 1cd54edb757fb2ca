package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/locksim/locksim/internal/explore"
)

// writeWays writes a scenario file for each way to break the lock into a directory, and sets File
// of each way to the path of its file. Without a directory it clears File. It does not overwrite a
// source, nor a file that no search has written. In that case it prints a note and returns no
// error, because the report still describes the way. The error contains all files that could not be
// written.
func writeWays(stderr io.Writer, dir string, r *explore.Result, sources []source) error {
	var errs []error
	for _, list := range [][]explore.Way{r.Ways, r.RanOn} {
		for i := range list {
			w := &list[i]
			if w.File == "" {
				continue
			}
			name := filepath.ToSlash(filepath.Join(dir, w.File))
			w.File = ""
			if dir == "" {
				continue
			}
			if why := cmp.Or(foreignWayReason(name), sourceReason(name, sources)); why != "" {
				printLine(stderr, "%s is left as it is: %s; move it away to have it written, or name another directory with --ways", name, why)
				continue
			}
			err := os.MkdirAll(filepath.Dir(name), 0o777)
			if err == nil {
				err = writeFile(name, w.Text)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("locksim: %w", err))
				continue
			}
			w.File = name
		}
	}
	return errors.Join(errs...)
}

// sourceReason says that the file for a way is one of the sources, and which; "" if it is
// none.
func sourceReason(name string, sources []source) string {
	info, err := os.Stat(name)
	if err != nil {
		info = nil
	}
	for _, s := range sources {
		if s.isAt(name, info) {
			return "it is " + s.describe(name)
		}
	}
	return ""
}

// foreignWayReason says why the file for a way must not be overwritten: because it is not as a
// search has written it. It returns "" if a search has written it, or there is no such file.
func foreignWayReason(name string) string {
	if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	info, err := os.Lstat(name)
	switch {
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return "it is a symbolic link"
	case err == nil && !info.Mode().IsRegular():
		return "it is not a regular file"
	}
	var text []byte
	if err == nil {
		text, err = scenarioFile.readFile(name)
	}
	switch {
	case errors.Is(err, errTooLarge):
		return "it is larger than any scenario"
	case err != nil:
		return fmt.Sprintf("it cannot be read (%v)", systemError(err))
	case !explore.IsUnedited(text):
		return "it is not what locksim explore has written there"
	}
	return ""
}

// checkWays returns an error if files cannot be written into a directory, before anything
// is run. The directory need not exist.
func checkWays(dir string) error {
	if dir == "" {
		return nil
	}
	existing := dir
	info, err := os.Stat(existing)
	for errors.Is(err, fs.ErrNotExist) && filepath.Dir(existing) != existing {
		existing = filepath.Dir(existing)
		info, err = os.Stat(existing)
	}
	switch {
	case err != nil:
		return fmt.Errorf("locksim: --ways %s: %w", dir, systemError(err))
	case !info.IsDir():
		return fmt.Errorf("locksim: --ways %s: %s is not a directory; name a directory for the scenario files, which need not exist", dir, existing)
	}
	if err := checkWriteBeside(filepath.Join(existing, "way")); err != nil {
		return fmt.Errorf("locksim: --ways %s: nothing can be written to %s: %w", dir, existing, systemError(err))
	}
	return nil
}
