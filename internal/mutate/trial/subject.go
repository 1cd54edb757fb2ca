package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/gotool"
	"github.com/locksim/locksim/internal/mutate"
)

// A Subject is a lock, with the package that tests it. The tests are run on mutants of the
// lock: copies of its source with one mistake each.
type Subject struct {
	// Package is the import path of the package whose tests are run, and Source the import path of
	// the lock's package. They are often the same.
	Package, Source string
	// Sources are the files of the lock.
	Sources []mutate.Source
	// arguments are the user's arguments of go test.
	arguments []string
	// module is the module of Source if it was copied from the module cache, and copied is the
	// folder of the copy. The copy is needed because a mutant is compiled by an overlay, and the go
	// command refuses overlays of files in the module cache.
	module *module
	copied string
	// modFlags and env make the go command use the copy.
	modFlags, env []string
	temp          string
}

// A listedPackage contains the fields that this program uses of the output of go list.
type listedPackage struct {
	ImportPath, Dir     string
	GoFiles, EmbedFiles []string
	Module              *module
}

// A module is what go list says about a module.
type module struct{ Path, Version, Dir string }

// Find returns the subject for the tests of the package name and the lock in the package source.
// Both are written as for go list; source is "" if the packages are the same. files are the names
// of the lock's files to mutate; none means all. arguments are passed to go test. The caller must
// call Close.
func Find(ctx context.Context, name, source string, files, arguments []string) (*Subject, error) {
	temp, err := os.MkdirTemp("", "locksim-mutate-")
	if err != nil {
		return nil, err
	}
	s := &Subject{arguments: arguments, temp: temp}
	if err := s.find(ctx, name, source, files); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// find sets the fields of s, as Find promises.
func (s *Subject) find(ctx context.Context, name, source string, files []string) error {
	tested, err := s.list(ctx, name)
	if err != nil {
		return err
	}
	lock := tested
	if source != "" {
		if lock, err = s.list(ctx, source); err != nil {
			return err
		}
	}
	s.Package, s.Source = tested.ImportPath, lock.ImportPath
	if s.Source != s.Package {
		if err := s.checkImported(ctx); err != nil {
			return err
		}
	}
	if err := s.copyModule(ctx, lock); err != nil {
		return err
	}
	return s.read(lock, files)
}

// Close removes the temporary files.
func (s *Subject) Close() error { return os.RemoveAll(s.temp) }

// command returns a command of Go. If its context ends, it is interrupted together with the tests
// that it runs. It makes its temporary files in the folder of s, so that Close removes them.
func (s *Subject) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := gotool.Command(ctx, "go", args...)
	cmd.Env = append(os.Environ(), append(s.env, "GOTMPDIR="+s.temp)...)
	return cmd
}

// run runs a command of Go and returns what it prints.
func (s *Subject) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := s.command(ctx, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	switch text := strings.TrimSpace(stderr.String()); {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case text != "":
		return nil, gotool.Lines(text)
	}
	return nil, fmt.Errorf("go %s: %w", args[0], err)
}

// list returns the package called name. It returns an error if name matches none or several.
func (s *Subject) list(ctx context.Context, name string) (*listedPackage, error) {
	if strings.HasPrefix(name, "-") {
		return nil, fmt.Errorf("%q is no package", name)
	}
	args := slices.Concat([]string{"list", "-json=ImportPath,Dir,GoFiles,EmbedFiles,Module"}, s.tags(), []string{name})
	out, err := s.run(ctx, args...)
	if err != nil {
		return nil, err
	}
	var found []*listedPackage
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		p := new(listedPackage)
		if err := d.Decode(p); err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		found = append(found, p)
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%s matches %d packages; name one", name, len(found))
	}
	return found[0], nil
}

// tags returns the build tags among the arguments of go test.
func (s *Subject) tags() []string {
	for i, a := range s.arguments {
		name := "-" + strings.TrimLeft(a, "-")
		switch {
		case strings.HasPrefix(name, "-tags="):
			return []string{name}
		case name == "-tags" && i+1 < len(s.arguments):
			return []string{"-tags=" + s.arguments[i+1]}
		}
	}
	return nil
}

// checkImported returns an error if the tests do not use the package of the lock, because then
// every mutant would survive.
func (s *Subject) checkImported(ctx context.Context) error {
	out, err := s.run(ctx, slices.Concat([]string{"list", "-deps", "-test", "-f={{.ImportPath}}"}, s.tags(), []string{s.Package})...)
	if err == nil && !slices.Contains(strings.Split(string(out), "\n"), s.Source) {
		err = fmt.Errorf("the tests of %s do not use %s", s.Package, s.Source)
	}
	return err
}

// read reads the files of the lock that names lists; no names mean all files.
func (s *Subject) read(lock *listedPackage, names []string) error {
	all := slices.Clone(lock.GoFiles)
	for _, name := range lock.EmbedFiles {
		if strings.HasSuffix(name, ".lua") {
			all = append(all, name)
		}
	}
	for _, name := range names {
		if !slices.Contains(all, name) {
			return fmt.Errorf("the package %s has no file %s; it has %s", lock.ImportPath, name, strings.Join(all, ", "))
		}
	}
	for _, name := range all {
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(lock.Dir, name))
		if err != nil {
			return err
		}
		s.Sources = append(s.Sources, mutate.Source{Name: filepath.Join(lock.Dir, name), Text: text})
	}
	return nil
}

// Place returns the name of a file for people: relative to the working directory, or with
// the module and its version if it is in the module cache.
func (s *Subject) Place(name string) string {
	if s.copied != "" {
		if relative, err := filepath.Rel(s.copied, name); err == nil {
			return s.module.Path + "@" + s.module.Version + "/" + filepath.ToSlash(relative)
		}
	}
	if dir, err := os.Getwd(); err == nil {
		if relative, err := filepath.Rel(dir, name); err == nil {
			return filepath.ToSlash(relative)
		}
	}
	return filepath.ToSlash(name)
}
