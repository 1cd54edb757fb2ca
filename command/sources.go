package command

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A source is a file that a command reads, or that it writes in addition to its report. A
// report must not replace it.
type source struct {
	// kind says what the file is, such as "the scenario".
	kind string
	// name is a path of the file; "" for a file without a name, such as standard input.
	name string
	// info describes the file; nil if it does not exist yet.
	info fs.FileInfo
}

// fileSource returns a source for the named file.
func fileSource(kind, name string) source {
	s := source{kind: kind, name: name}
	if info, err := os.Stat(name); err == nil {
		s.info = info
	}
	return s
}

// fileSources returns the files with some names as sources. It skips "".
func fileSources(kind string, names ...string) []source {
	var all []source
	for _, name := range names {
		if name != "" {
			all = append(all, fileSource(kind, name))
		}
	}
	return all
}

// sourceStdin returns standard input as a source, if it is a file.
func sourceStdin(kind string, stdin io.Reader) []source {
	f, isFile := stdin.(*os.File)
	if !isFile {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	return []source{{kind: kind, info: info}}
}

// sourcesOf returns the files of scenarios as sources. A built-in scenario has no file.
func sourcesOf(found []input) []source {
	var all []source
	for _, in := range found {
		all = append(all, fileSources("the scenario", in.file)...)
	}
	return all
}

// isAt reports whether writing to a name would replace the source. The name may be another
// spelling of the source's name, a symbolic or hard link to it, or a descriptor. info
// describes the file with that name; nil if there is none.
func (s source) isAt(name string, info fs.FileInfo) bool {
	if s.info != nil && info != nil {
		// Writing to a device or a terminal destroys nothing.
		return os.SameFile(s.info, info) && (info.Mode().IsRegular() || info.Mode()&fs.ModeNamedPipe != 0)
	}
	return s.info == nil && info == nil && s.name != "" && name != "" && canonicalPath(s.name) == canonicalPath(name)
}

// describe names the source in an error about name, which leads to the same file.
func (s source) describe(name string) string {
	switch s.name {
	case name:
		return s.kind
	case "":
		return s.kind + " on standard input"
	}
	return s.kind + " " + s.name
}

// refuseSources returns an error if the destination is one of the sources.
func (d *destination) refuseSources(stdout io.Writer, sources []source) error {
	info := d.info(stdout)
	for _, s := range sources {
		if !s.isAt(d.name, info) {
			continue
		}
		if d.name == "" {
			return fmt.Errorf("locksim: standard output is %s, which would be lost; write to another file", s.describe(""))
		}
		return fmt.Errorf("locksim: -o %s is %s, which would be lost; name another file", d.name, s.describe(d.name))
	}
	return nil
}

// blocksDirectory reports whether a file makes it impossible to create a directory, because
// the file has the path of the directory or of one of its parents.
func blocksDirectory(file, dir string) bool {
	way, err := filepath.Rel(canonicalPath(file), canonicalPath(dir))
	info, err2 := os.Stat(file)
	return err == nil && filepath.IsLocal(way) && (err2 != nil || !info.IsDir())
}

// canonicalPath returns the same path for all spellings of a file's name. The file need not
// exist.
func canonicalPath(name string) string {
	if whole, err := filepath.Abs(name); err == nil {
		name = whole
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
		name = filepath.Join(dir, filepath.Base(name))
	}
	return name
}
