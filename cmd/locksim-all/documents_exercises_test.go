package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/exercises"
)

// showStages shows the stages of the exercise, as README.md in the reader's folder has them.
func showStages(*testing.T, string, string) string {
	var b strings.Builder
	b.WriteString("\n| stage | name | property |\n|---|---|---|\n")
	for _, s := range exercises.Stages() {
		fmt.Fprintf(&b, "| %d | %s | %s |\n", s.Number, s.Name, s.Property)
	}
	return b.String() + "\n"
}

// showLearnCheck shows what locksim learn check says of a model solution, which the argument
// names by its folder.
func showLearnCheck(t *testing.T, solution, _ string) string {
	t.Setenv("GOWORK", "off")
	clone, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	runOutput(t, "learn", "new", filepath.Join(dir, "lock"), "--clone", clone)
	runOutput(t, "learn", "solutions", filepath.Join(dir, "solutions"))
	lock, err := os.ReadFile(filepath.Join(dir, "solutions", solution, "lock.go"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "lock", "lock.go"), lock, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	goOutput(t, nil, filepath.Join(dir, "lock"), "mod", "tidy")
	check := exec.CommandContext(t.Context(), "locksim", "learn", "check", ".")
	check.Dir = filepath.Join(dir, "lock")
	var stderr bytes.Buffer
	check.Stderr = &stderr
	out, err := check.Output()
	if check.ProcessState.ExitCode() != 1 || len(out) == 0 {
		t.Fatalf("locksim learn check: %v\n%s", err, &stderr)
	}
	return fence("text", string(out))
}
