package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/trackrecord/internal/proof"
)

// Each bug names a test that exists.
func TestEveryBugHasATest(t *testing.T) {
	bugs, err := readBugs(&builder{root: ".."})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bugs {
		v := b.versions()[0]
		if files, _ := filepath.Glob(filepath.Join(v.builder.inLibraries(v.bug.Test), "*_test.go")); len(files) == 0 {
			t.Errorf("%s: there is no test in libraries/%s", b.name, v.bug.Test)
		}
	}
	if len(bugs) == 0 {
		t.Error("there are no bugs")
	}
}

const (
	heading = "module example.com/libraries\n\ngo 1.26.0\n"
	own     = heading + "\nrequire (\n\texample.com/some/v2 v2.9.0\n\tgithub.com/locksim/locksim v0.1.0\n)\n\nreplace (\n\tgithub.com/locksim/locksim v0.1.0 => ..\n)\n"
)

// newTestVersion returns a version of a bug in a small track record that is made for the
// test.
func newTestVersion(t *testing.T, check bool) *version {
	testBuilder := &builder{root: t.TempDir(), scratch: t.TempDir(), check: check}
	if err := os.Mkdir(testBuilder.inLibraries(""), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, testBuilder.inLibraries("go.mod"), own)
	write(t, testBuilder.inLibraries("go.sum"), "old\n")
	b := proof.Bug{Name: "some-bug", Library: "example.com/some/v2", Test: "some/client"}
	return newVersion(b, proof.Version{Name: "bad", Number: "v2.0.1"}, testBuilder)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The generated go.mod requires the version under test instead of the module's own version.
// It is not in the folder of the module.
func TestGoTestCommand(t *testing.T) {
	v := newTestVersion(t, false)
	cmd, err := v.builder.goTest(v, "-run", "X")
	if err != nil {
		t.Fatal(err)
	}
	mod := v.builder.scratchFile(v, ".mod")
	text := read(t, mod)
	if !strings.HasPrefix(text, heading) || strings.Contains(text, "v2.9.0") ||
		!strings.Contains(text, "\tgithub.com/locksim/locksim v0.1.0\n") || !strings.Contains(text, "\tgithub.com/locksim/locksim v0.1.0 => ..\n") ||
		!strings.Contains(text, "\texample.com/some/v2 v2.0.1\n") || !strings.Contains(text, "\texample.com/some/v2 => example.com/some/v2 v2.0.1\n") {
		t.Errorf("the generated go.mod is\n%s", text)
	}
	if text := read(t, v.builder.inLibraries("go.mod")); text != own {
		t.Errorf("the module's go.mod was changed to\n%s", text)
	}
	if cmd.Dir != v.builder.inLibraries("") || !slices.Contains(cmd.Args, "-modfile="+mod) || !strings.HasSuffix(cmd.String(), " ./some/client -run X") {
		t.Errorf("the command is %s in the folder %s", cmd, cmd.Dir)
	}
	if !slices.Contains(cmd.Env, "GOWORK=off") {
		t.Error("the command does not set GOWORK=off, so it would fail in a workspace")
	}
}

// The checksums that a version needs are added to go.sum, unless nothing may be written.
func TestKeepSums(t *testing.T) {
	for _, check := range []bool{false, true} {
		v := newTestVersion(t, check)
		if _, err := v.builder.goTest(v); err != nil {
			t.Fatal(err)
		}
		if err := v.builder.keepSums(v); err != nil {
			t.Errorf("check %v, without new checksums: the error is %v", check, err)
		}
		write(t, v.builder.scratchFile(v, ".sum"), "new\nold\n")
		err := v.builder.keepSums(v)
		want := map[bool]string{false: "new\nold\n", true: "old\n"}[check]
		if text := read(t, v.builder.inLibraries("go.sum")); text != want {
			t.Errorf("check %v: the module's go.sum is %q, want %q", check, text, want)
		}
		if check != (err != nil) || err != nil && !strings.Contains(err.Error(), "libraries/go.sum lacks what example.com/some/v2 v2.0.1 needs") {
			t.Errorf("check %v: the error is %v", check, err)
		}
	}
}
