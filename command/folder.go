package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/locksim/locksim/reports"
)

// isFolder reports whether the value of -o names a folder: it ends with a slash, or a folder with
// this name exists.
func isFolder(name string) bool {
	if name == "" {
		return false
	}
	info, err := os.Stat(name)
	return os.IsPathSeparator(name[len(name)-1]) || err == nil && info.IsDir()
}

// checkFolder returns an error if files cannot be written into a folder. It is called
// before any file is read. The folder need not exist, but its parent must.
func checkFolder(name string) error {
	dir := filepath.Clean(name)
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return checkFile(dir)
	case err != nil:
		return statError(name, err)
	case !info.IsDir():
		return fmt.Errorf("locksim: -o %s: %s is a file; name a folder, or leave the slash out", name, dir)
	}
	if err := checkWriteBeside(filepath.Join(dir, reports.FrontPage)); err != nil {
		return fmt.Errorf("locksim: -o %s: nothing can be written to %s: %w", name, dir, systemError(err))
	}
	return nil
}

// checkPages returns an error if a page in the folder would replace a file that is not a
// page of a report, or a file that the command reads.
func checkPages(name string, pages []string, sources []source) error {
	dir := filepath.Clean(name)
	for _, page := range pages {
		file := filepath.Join(dir, page)
		if why := foreignPageReason(file); why != "" {
			return fmt.Errorf("locksim: -o %s: a page of the report would replace %s, and %s; move it away, or name another folder", name, file, why)
		}
		info, err := os.Stat(file)
		if err != nil {
			continue
		}
		for _, s := range sources {
			if s.isAt(file, info) {
				return fmt.Errorf("locksim: -o %s: a page of the report would replace %s, which is %s; name another folder", name, file, s.describe(file))
			}
		}
	}
	return nil
}

// foreignPageReason says why the file with the name of a page is not a page that locksim
// has written; "" if locksim has written it, or there is no such file.
func foreignPageReason(name string) string {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		return fmt.Sprintf("it cannot be read (%v)", systemError(err))
	case info.Mode()&fs.ModeSymlink != 0:
		return "it is a symbolic link"
	case info.IsDir():
		return "it is a directory"
	case !info.Mode().IsRegular():
		return "it is not a regular file"
	}
	head, err := readHead(name)
	switch {
	case err != nil:
		return fmt.Sprintf("it cannot be read (%v)", systemError(err))
	case !reports.IsPage(head):
		return "locksim has not written it"
	}
	return ""
}

// readHead reads the beginning of a file. There a page has the mark that identifies it.
func readHead(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 1<<10))
}

func fileCount(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

// writeFolder writes the pages of a report into a folder, each as a whole. It writes the front
// page last, because that page links to the other pages. It writes nothing if a page would
// replace something that is not a page. It does not change other files in the folder, but prints
// how many files have the extension of a page.
func writeFolder(stderr io.Writer, name string, pages []reports.Page, sources []source) error {
	dir := filepath.Clean(name)
	var names []string
	for _, p := range pages {
		names = append(names, filepath.Base(p.Name))
	}
	if err := checkPages(name, names, sources); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	var front []reports.Page
	// If a symbolic link has appeared meanwhile, the page replaces the link. Nothing is
	// written outside the folder.
	write := func(p reports.Page) error {
		return replaceFile(filepath.Join(dir, filepath.Base(p.Name)), writeContents(p.Data))
	}
	for _, p := range pages {
		if p.Name == reports.FrontPage {
			front = append(front, p)
		} else if err := write(p); err != nil {
			return err
		}
	}
	message := fmt.Sprintf("wrote %s into %s", fileCount(len(pages)), dir)
	if n := countOthers(dir, pages); n == 1 {
		message += "; 1 other file there was left alone"
	} else if n > 1 {
		message += fmt.Sprintf("; %d other files there were left alone", n)
	}
	for _, p := range front {
		if err := write(p); err != nil {
			return err
		}
		message += "; open " + filepath.Join(dir, p.Name)
	}
	return printLine(stderr, "%s", message)
}

// countOthers counts the files in a folder that have the extension of a page but are not
// among the pages.
func countOthers(dir string, pages []reports.Page) int {
	own, endings := map[string]bool{}, map[string]bool{}
	for _, p := range pages {
		own[p.Name], endings[filepath.Ext(p.Name)] = true, true
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0 // a folder can be writable although its files cannot be listed
	}
	n := 0
	for _, e := range entries {
		if e.Type().IsRegular() && endings[filepath.Ext(e.Name())] && !own[e.Name()] {
			n++
		}
	}
	return n
}
