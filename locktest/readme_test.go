package locktest_test

import (
	"flag"
	"os"
	"os/exec"
	"regexp"
	"testing"
)

var update = flag.Bool("update", false, "write the example and what it prints into README.md")

// What the README shows of locktest stands between two comments: a file, or what a
// go test command prints.
var readmeBlock = regexp.MustCompile("(?s)(<!-- (file|go test): ([^\n]*) -->\n```[a-z]+\n)(.*?)(```\n<!-- end -->)")

// What differs from run to run, or with any edit of the suite: seconds, and the
// lines of its own files.
var passing = regexp.MustCompile(`\([0-9.]+s\)|\t[0-9.]+s\n|:[0-9]+\b`)

// The README shows a lock that compiles, and what the suite really says of it.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a test")
	}
	t.Chdir("..")
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	now := readmeBlock.ReplaceAllStringFunc(string(text), func(s string) string {
		part := readmeBlock.FindStringSubmatch(s)
		shown++
		if part[2] == "file" {
			code, err := os.ReadFile(part[3])
			if err != nil {
				t.Fatal(err)
			}
			return part[1] + string(code) + part[5]
		}
		out, err := exec.CommandContext(t.Context(), "go", "test", "./locktest/testdata/naive", "-run", part[3]).CombinedOutput()
		if err == nil {
			t.Fatalf("the broken lock of the README passes:\n%s", out)
		}
		return part[1] + passing.ReplaceAllString(string(out), "") + part[5]
	})
	switch {
	case shown < 2:
		t.Fatal("the README shows no lock and what the suite says of it")
	case now == string(text):
	case !*update:
		t.Fatal("README.md shows what locktest does not say any more: go test ./locktest -run TestReadme -update")
	default:
		if err := os.WriteFile("README.md", []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
