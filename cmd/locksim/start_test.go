package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// initLine matches what the Go runtime prints about the initialization of a package: its name,
// and how much that allocates.
var initLine = regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, (\d+) allocs$`)

// When the program starts, it makes only what every run needs: the initialization of its
// packages only registers locks, servers and the like. Regular expressions and tables are
// made when they are first used.
func TestStartMakesLittle(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "locksim", "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	packages, total := 0, 0
	for _, line := range initLine.FindAllStringSubmatch(string(out), -1) {
		size, err := strconv.Atoi(line[2])
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(line[1], "github.com/locksim/locksim/") {
			continue
		}
		packages, total = packages+1, total+size
		if size > 32<<10 {
			t.Errorf("%s allocates %d bytes when the program starts, in %s pieces; want at most %d", line[1], size, line[3], 32<<10)
		}
	}
	if packages < 10 || total > 256<<10 {
		t.Errorf("%d packages of locksim allocate %d bytes when the program starts, want at least 10 packages and at most %d bytes", packages, total, 256<<10)
	}
}

// No code of the program, as the README builds it, executes a template. Templates call methods by
// their names, so the linker would keep every exported method: a quarter of the program more.
func TestNoTemplateIsExecuted(t *testing.T) {
	if testing.Short() {
		t.Skip("this test links the program")
	}
	program := filepath.Join(t.TempDir(), "locksim")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-tags", "grpcnotrace", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	symbols, err := exec.CommandContext(t.Context(), "go", "tool", "nm", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(symbols, []byte(" main.main\n")) {
		t.Fatal("the list of symbols lacks main.main")
	}
	if bytes.Contains(symbols, []byte(" text/template.(*state).evalField\n")) {
		t.Error("a template is executed somewhere; find it with: go build -tags grpcnotrace -ldflags=-dumpdep ./cmd/locksim 2>&1 | grep 'template.(\\*Template).Execute'")
	}
}
