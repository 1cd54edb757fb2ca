package command

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A source is a file that a command reads, or that it writes besides its report. No
// report may take its place.
type source struct {
	// is says what kind of file it is, as in "the scenario".
	is string
	// name leads to it; "" is a file without a name of its own, such as standard input.
	name string
	// info is the file; nil if there is none yet.
	info fs.FileInfo
}

// fileSource is the file of a name.
func fileSource(is, name string) source {
	s := source{is: is, name: name}
	if info, err := os.Stat(name); err == nil {
		s.info = info
	}
	return s
}

// fileSources are the files of some names, without those that are not given.
func fileSources(is string, names ...string) []source {
	var all []source
	for _, name := range names {
		if name != "" {
			all = append(all, fileSource(is, name))
		}
	}
	return all
}

// sourceStdin is standard input as a file; none if it is something else.
func sourceStdin(is string, stdin io.Reader) []source {
	f, isFile := stdin.(*os.File)
	if !isFile {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	return []source{{is: is, info: info}}
}

// sourcesOf are the files of scenarios; what is built in has none.
func sourcesOf(found []input) []source {
	var all []source
	for _, in := range found {
		all = append(all, fileSources("the scenario", in.file)...)
	}
	return all
}

// isAt reports whether the source is the file that a name leads to, or would be: by
// another spelling, by a link of either kind, or through a descriptor. info is that file;
// nil if there is none.
func (s source) isAt(name string, info fs.FileInfo) bool {
	if s.info != nil && info != nil {
		// Of a device or a terminal nothing is lost.
		return os.SameFile(s.info, info) && (info.Mode().IsRegular() || info.Mode()&fs.ModeNamedPipe != 0)
	}
	return s.info == nil && info == nil && s.name != "" && name != "" && whereIs(s.name) == whereIs(name)
}

// called is the source as an error names it for someone who has named a file that is it.
func (s source) called(name string) string {
	switch s.name {
	case name:
		return s.is
	case "":
		return s.is + " on standard input"
	}
	return s.is + " " + s.name
}

// keepApart refuses a report that would take the place of a file that the command needs.
func (d *destination) keepApart(stdout io.Writer, sources []source) error {
	info := d.info(stdout)
	for _, s := range sources {
		if !s.isAt(d.name, info) {
			continue
		}
		if d.name == "" {
			return fmt.Errorf("locksim: standard output is %s, which would be lost; write to another file", s.called(""))
		}
		return fmt.Errorf("locksim: -o %s is %s, which would be lost; name another file", d.name, s.called(d.name))
	}
	return nil
}

// isAround reports whether a file is in the way of a directory: it has its place, or that
// of one around it.
func isAround(file, dir string) bool {
	way, err := filepath.Rel(whereIs(file), whereIs(dir))
	info, err2 := os.Stat(file)
	return err == nil && filepath.IsLocal(way) && (err2 != nil || !info.IsDir())
}

// whereIs is a file's place, which need not be there yet: the same for every way to write
// its name.
func whereIs(name string) string {
	if whole, err := filepath.Abs(name); err == nil {
		name = whole
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
		name = filepath.Join(dir, filepath.Base(name))
	}
	return name
}
