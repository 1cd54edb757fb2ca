package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A builder builds the tests in the module libraries, each with the version of a library that the
// test is for. For each version it makes a go.mod from the go.mod of the module, which itself
// serves only the people who edit the tests. If each version had a module of its own instead, there
// would be many almost equal go.mod files, and each would have to be updated when the requirements
// of locksim change.
type builder struct {
	// root is the folder of the track record, and scratch the folder for temporary files.
	root, scratch string
	// check means that nothing in root may be written.
	check bool
}

// inLibraries returns the path of a file or folder in the module libraries.
func (b *builder) inLibraries(name string) string {
	return filepath.Join(b.root, "libraries", filepath.FromSlash(name))
}

// scratchFile returns the path of a temporary file for a version; suffix is the end of its
// name.
func (b *builder) scratchFile(v *version, suffix string) string {
	return filepath.Join(b.scratch, strings.ReplaceAll(v.bug.Library, "/", "-")+"-"+v.Number+suffix)
}

// goTest returns a command that runs go test with a version of a library and with flags.
func (b *builder) goTest(v *version, flags ...string) (*exec.Cmd, error) {
	mod, err := os.ReadFile(b.inLibraries("go.mod"))
	if err != nil {
		return nil, err
	}
	sum, err := os.ReadFile(b.inLibraries("go.sum"))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(b.scratchFile(v, ".mod"), []byte(goMod(string(mod), v)), 0o644); err != nil {
		return nil, err
	}
	if err := os.WriteFile(b.scratchFile(v, ".sum"), sum, 0o644); err != nil {
		return nil, err
	}
	cmd := exec.Command("go", append([]string{
		"test", "-modfile=" + b.scratchFile(v, ".mod"), "-mod=mod", "-ldflags=-s -w", "./" + v.bug.Test,
	}, flags...)...)
	cmd.Dir = b.inLibraries("")
	cmd.Env = append(os.Environ(), "GOWORK=off") // -modfile is not allowed in a workspace
	return cmd, nil
}

// goMod returns the text of the go.mod for a version. own is the go.mod of the module. The result
// contains its heading, locksim's modules with their paths, and the version under test; the go
// command adds the modules that these require. It lists all modules of locksim, although a test
// needs only one or two: so the packages of locksim have the same dependencies as in the workspace,
// and are already in the build cache. The last replacement is needed if locksim itself requires a
// newer version of the library.
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

// keepSums adds the checksums that the go command has found for a version to the module's
// go.sum, which contains those of all versions.
func (b *builder) keepSums(v *version) error {
	had, err := os.ReadFile(b.inLibraries("go.sum"))
	if err != nil {
		return err
	}
	sum, err := os.ReadFile(b.scratchFile(v, ".sum"))
	if err != nil || bytes.Equal(had, sum) {
		return err
	}
	if b.check {
		return fmt.Errorf("trackrecord/libraries/go.sum lacks what %s %s needs; add it with go run ./trackrecord/run %s", v.bug.Library, v.Number, v.bug.Name)
	}
	return os.WriteFile(b.inLibraries("go.sum"), sum, 0o644)
}
