package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/locksim/locksim/reports"
)

// isFolder reports whether -o asks for a folder: it ends with a slash, or is one.
func isFolder(name string) bool {
	if name == "" {
		return false
	}
	info, err := os.Stat(name)
	return os.IsPathSeparator(name[len(name)-1]) || err == nil && info.IsDir()
}

// checkFolder says before anything is run why files could not be written into a
// folder. It need not be there, but the folder around it must.
func checkFolder(name string) error {
	dir := filepath.Clean(name)
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return checkOutput(dir)
	case err != nil:
		return fmt.Errorf("locksim: -o %s: %w", name, cause(err))
	case !info.IsDir():
		return fmt.Errorf("locksim: -o %s: %s is a file; name a folder, or leave the slash out", name, dir)
	}
	return checkOutput(filepath.Join(dir, reports.FrontPage))
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

// writeFolder writes pages into a folder, each as a whole, and the front page last:
// it leads to the others. What else is there stays; how much of that could be taken for
// pages of this report is said.
func writeFolder(stderr io.Writer, name string, pages []reports.Page) error {
	dir := filepath.Clean(name)
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	var front []reports.Page
	write := func(p reports.Page) error { return writeFile(filepath.Join(dir, filepath.Base(p.Name)), p.Data) }
	for _, p := range pages {
		if p.Name == reports.FrontPage {
			front = append(front, p)
		} else if err := write(p); err != nil {
			return err
		}
	}
	said := fmt.Sprintf("wrote %s into %s", files(len(pages)), dir)
	if n := strangers(dir, pages); n == 1 {
		said += "; 1 other file there was left alone"
	} else if n > 1 {
		said += fmt.Sprintf("; %d other files there were left alone", n)
	}
	for _, p := range front {
		if err := write(p); err != nil {
			return err
		}
		said += "; open " + filepath.Join(dir, p.Name)
	}
	return say(stderr, "%s", said)
}

// strangers counts the files of a folder that end as pages do and are none of them.
func strangers(dir string, pages []reports.Page) int {
	mine, endings := map[string]bool{}, map[string]bool{}
	for _, p := range pages {
		mine[p.Name], endings[filepath.Ext(p.Name)] = true, true
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0 // one may write into a folder that one may not list
	}
	n := 0
	for _, e := range entries {
		if e.Type().IsRegular() && endings[filepath.Ext(e.Name())] && !mine[e.Name()] {
			n++
		}
	}
	return n
}
