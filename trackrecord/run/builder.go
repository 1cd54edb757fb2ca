package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A builder builds the tests in libraries, a module, each with the version of a library
// that is asked for. The module's own go.mod is for those who write the tests. With one
// for each version there would be many, all but equal, and all would have to follow
// whatever locksim requires.
type builder struct {
	// root is the folder of the track record, and scratch one for what is built.
	root, scratch string
	// check says that nothing may be written into root.
	check bool
}

// inLibraries is a file or folder of the module.
func (b *builder) inLibraries(name string) string {
	return filepath.Join(b.root, "libraries", filepath.FromSlash(name))
}

// file is what is built for a version.
func (b *builder) file(v *version, suffix string) string {
	return filepath.Join(b.scratch, strings.ReplaceAll(v.bug.Library, "/", "-")+"-"+v.Number+suffix)
}

// goTest is go test for a version, with flags.
func (b *builder) goTest(v *version, flags ...string) (*exec.Cmd, error) {
	mod, err := os.ReadFile(b.inLibraries("go.mod"))
	if err != nil {
		return nil, err
	}
	sum, err := os.ReadFile(b.inLibraries("go.sum"))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(b.file(v, ".mod"), []byte(goMod(string(mod), v)), 0o644); err != nil {
		return nil, err
	}
	if err := os.WriteFile(b.file(v, ".sum"), sum, 0o644); err != nil {
		return nil, err
	}
	cmd := exec.Command("go", append([]string{
		"test", "-modfile=" + b.file(v, ".mod"), "-mod=mod", "-ldflags=-s -w", "./" + v.bug.Test,
	}, flags...)...)
	cmd.Dir = b.inLibraries("")
	cmd.Env = append(os.Environ(), "GOWORK=off") // in a workspace there is no -modfile
	return cmd, nil
}

// goMod is the go.mod for a version: of the module's own what it is, its language, and
// locksim's modules with where they are. Besides those it requires the version and nothing
// else; what that requires the go command finds out. All of locksim's modules are there for
// every version, though a test needs one or two, for then its packages are built with what
// they have in the workspace, and are in the build cache. The last replacement is for a
// version that locksim, which requires the library too, is too new for.
func goMod(own string, v *version) string {
	heading, _, _ := strings.Cut(own, "\nrequire ")
	var required, replaced []string
	for line := range strings.Lines(own) {
		switch {
		case !strings.HasPrefix(line, "\tgithub.com/locksim/locksim"):
		case strings.Contains(line, "=>"):
			replaced = append(replaced, line)
		default:
			required = append(required, line)
		}
	}
	return fmt.Sprintf(`%[1]s
require (
%[4]s	%[2]s %[3]s
)

replace (
%[5]s	%[2]s => %[2]s %[3]s
)
`, heading, v.bug.Library, v.Number, strings.Join(required, ""), strings.Join(replaced, ""))
}

// keepSums adds what the go command has learned of the contents of modules to the
// module's go.sum, which thereby has that of all versions.
func (b *builder) keepSums(v *version) error {
	had, err := os.ReadFile(b.inLibraries("go.sum"))
	if err != nil {
		return err
	}
	sum, err := os.ReadFile(b.file(v, ".sum"))
	if err != nil || bytes.Equal(had, sum) {
		return err
	}
	if b.check {
		return fmt.Errorf("trackrecord/libraries/go.sum lacks what %s %s needs: go run ./trackrecord/run %s adds it", v.bug.Library, v.Number, v.bug.Name)
	}
	return os.WriteFile(b.inLibraries("go.sum"), sum, 0o644)
}
