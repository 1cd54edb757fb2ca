//go:build unix

package command

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// makeFolder makes a folder with some files, and changes into it.
func makeFolder(t *testing.T, texts map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range texts {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// runProcess runs the command in a process of its own. Searches need that, because they
// start this program again for their workers.
func runProcess(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.Command("locksim", args...)
	var outText, errText strings.Builder
	cmd.Stdout, cmd.Stderr = &outText, &errText
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return outText.String(), errText.String(), cmd.ProcessState.ExitCode()
}

// mustRun runs the command, to make a file that other commands read. The test fails if the
// command refuses its input. A search may end with status 1, because it finds something.
func mustRun(t *testing.T, args ...string) {
	t.Helper()
	if _, stderr, status := runProcess(t, args...); status == badInput {
		t.Fatalf("locksim %q: %s", args, stderr)
	}
}

// A report never replaces a file that the command reads or also writes, whatever the
// command is and however the name is spelled. The command then runs nothing.
func TestReportsReplaceNoSources(t *testing.T) {
	makeFolder(t, map[string]string{"story.yaml": quietScenario, "folder/in.yaml": quietScenario, "folder/page.html": "mine"})
	whole, err := filepath.Abs("story.yaml")
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, "run", "story.yaml", "--format", "trace", "-o", "trace.json")
	search := []string{"story.yaml", "--max-faults", "1", "--only", "pause", "--jobs", "1"}
	explore := func(args ...string) []string { return append(append([]string{"explore"}, search...), args...) }
	mustRun(t, explore("--format", "json", "-o", "found.json")...)
	mustRun(t, explore("--shard", "1/1", "--ledger", "part.jsonl")...)
	for _, link := range []struct{ to, name string }{{"story.yaml", "soft"}, {"trace.json", "soft.json"}, {"found.json", "found.link"}, {"part.jsonl", "part.link"}} {
		if err := os.Symlink(link.to, link.name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link("story.yaml", "hard"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("folder", "other"); err != nil {
		t.Fatal(err)
	}
	// readSources returns the names and contents of all files that the commands read.
	readSources := func() string {
		var all strings.Builder
		for _, name := range []string{"story.yaml", "folder/in.yaml", "trace.json", "found.json", "part.jsonl"} {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&all, "%s: %s\n", name, text)
		}
		return all.String()
	}
	before := readSources()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "story.yaml", "-o", "story.yaml"}, "-o story.yaml is the scenario, which would be lost; name another file"},
		{[]string{"run", "story.yaml", "-o", "./story.yaml"}, "-o ./story.yaml is the scenario story.yaml, which would be lost; name another file"},
		{[]string{"run", "story.yaml", "-o", whole}, "is the scenario story.yaml, which"},
		{[]string{"run", "story.yaml", "-o", "soft"}, "-o soft is the scenario story.yaml, which"},
		{[]string{"run", "soft", "-o", "story.yaml"}, "-o story.yaml is the scenario soft, which"},
		{[]string{"run", "story.yaml", "-o", "hard"}, "-o hard is the scenario story.yaml, which"},
		{[]string{"run", "gc-pause", "folder", "-o", "folder/in.yaml"}, "-o folder/in.yaml is the scenario, which"},
		{[]string{"run", "folder", "-o", "other/in.yaml"}, "-o other/in.yaml is the scenario folder/in.yaml, which"},
		{[]string{"run", "story.yaml", "--format", "trace", "-o", "story.yaml"}, "is the scenario, which"},
		{[]string{"explain", "story.yaml", "-o", "hard"}, "-o hard is the scenario story.yaml, which"},
		{[]string{"matrix", "story.yaml", "-o", "story.yaml"}, "is the scenario, which"},
		{[]string{"compare", "story.yaml", "--lock", "single", "-o", "story.yaml"}, "is the scenario, which"},
		{[]string{"report", "trace.json", "-o", "trace.json"}, "-o trace.json is the saved trace, which"},
		{[]string{"report", "trace.json", "-o", "soft.json"}, "-o soft.json is the saved trace trace.json, which"},
		{explore("-o", "story.yaml"), "is the scenario, which"},
		{explore("--expect", "found.json", "-o", "found.json"), "-o found.json is the report of an earlier search, which"},
		{explore("--expect", "found.json", "--format", "json", "-o", "found.link"), "-o found.link is the report of an earlier search found.json, which"},
		{explore("--ledger", "new", "-o", "./new"), "-o ./new is the ledger new, which"},
		{[]string{"merge", "part.jsonl", "-o", "./part.link"}, "-o ./part.link is the ledger part.jsonl, which"},
		{[]string{"merge", "part.jsonl", "--expect", "found.json", "-o", "found.json"}, "is the report of an earlier search, which"},
		{explore("--ways", "ways", "-o", "ways"), "--ways ways is the report, or inside of it; name another directory"},
		{explore("--ways", "ways/here", "-o", "ways"), "--ways ways/here is the report ways, or inside of it; name another directory"},
		{explore("--ways", "ways", "--ledger", "./ways"), "--ways ways is the ledger ./ways, or inside of it; name another directory"},
	} {
		stdout, stderr, status := runProcess(t, c.args...)
		if status != badInput || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("locksim %q: status %d, standard error %q and standard output %q; want status 2, and %q as the error", c.args, status, stderr, stdout, c.want)
		}
		if readSources() != before {
			t.Fatalf("locksim %q has changed a file that it reads", c.args)
		}
	}
	if _, err := os.Stat("new"); err == nil {
		t.Error("a search that was refused has made a ledger")
	}
}

// A name that is too long, and a folder that cannot be reached, are refused before anything
// is run. Otherwise this test would take an hour.
func TestUnusableNamesAreRefusedFirst(t *testing.T) {
	makeFolder(t, map[string]string{"story.yaml": quietScenario, "file": "text"})
	long := strings.Repeat("n", 256)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-o", long}, "file name too long; name another file"},
		{[]string{"-o", "./" + long + "/report"}, "file name too long; name another file"},
		{[]string{"-o", long + "/", "--format", "html"}, "file name too long; name another file"},
		{[]string{"-o", "file/report"}, "there is no directory file; make it first"},
		{[]string{"-o", "none/report"}, "there is no directory none; make it first"},
	} {
		_, stderr, status := runProcess(t, append([]string{"compare", "story.yaml", "--seeds", "100000"}, c.args...)...)
		if status != badInput || !strings.Contains(stderr, c.want) {
			t.Errorf("%.40q: status %d and standard error %.400q; want status 2 and %q", c.args, status, stderr, c.want)
		}
	}
}

// A page replaces only a page that locksim has written, and is written only into its
// folder. Problems are found before anything is run.
func TestPagesReplacePagesOnly(t *testing.T) {
	makeFolder(t, map[string]string{"story.yaml": quietScenario, "outside.html": "mine"})
	if err := os.Symlink("outside.html", "link.html"); err != nil {
		t.Fatal(err)
	}
	if _, stderr, status := runProcess(t, "run", "story.yaml", "--format", "html", "-o", "own/"); status != success {
		t.Fatal(stderr)
	}
	own, err := os.ReadFile("own/index.html")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("own.html", own, 0o666); err != nil {
		t.Fatal(err)
	}
	// The commands, and for each the name of the page that it writes beside index.html.
	commands := map[string][]string{
		"run":                 {"run", "story.yaml"},
		"matrix":              {"matrix", "story.yaml"},
		"matrix of two locks": {"matrix", "story.yaml", "--lock", "single,redlock"},
		"compare":             {"compare", "story.yaml", "--lock", "single", "--seeds", "100000"},
	}
	pages := map[string]string{"run": "story.html", "matrix": "story.html", "matrix of two locks": "story-redlock.html", "compare": "story-single.html"}
	for name, command := range commands {
		for _, page := range []string{"index.html", pages[name]} {
			for what, c := range map[string]struct {
				make func(file string) error
				want string
			}{
				"a file of the user":           {func(f string) error { return os.WriteFile(f, []byte("mine"), 0o666) }, "and locksim has not written it; move it away, or name another folder"},
				"a link to a file of the user": {func(f string) error { return os.Symlink("../outside.html", f) }, "and it is a symbolic link; move it away, or name another folder"},
				"a link to a page of locksim":  {func(f string) error { return os.Symlink("../own.html", f) }, "and it is a symbolic link; "},
				"a link to a missing file":     {func(f string) error { return os.Symlink("../nowhere.html", f) }, "and it is a symbolic link; "},
				"a folder":                     {func(f string) error { return os.Mkdir(f, 0o777) }, "and it is a directory; "},
			} {
				dir, err := os.MkdirTemp(".", "site")
				if err != nil {
					t.Fatal(err)
				}
				file := filepath.Join(dir, page)
				if err := c.make(file); err != nil {
					t.Fatal(err)
				}
				_, stderr, status := runProcess(t, append(command, "--format", "html", "-o", dir)...)
				if status != badInput || !strings.Contains(stderr, "a page of the report would replace "+file+", "+c.want) {
					t.Errorf("%s with %s as %s: status %d and standard error %q", name, what, page, status, stderr)
				}
				if n := len(entries(t, dir)); n != 1 {
					t.Errorf("%s with %s as %s: there are %d files in the folder, want 1", name, what, page, n)
				}
			}
		}
	}
	for _, name := range []string{"outside.html", "own.html"} {
		if text, err := os.ReadFile(name); err != nil || name == "outside.html" && string(text) != "mine" || name == "own.html" && string(text) != string(own) {
			t.Errorf("%s has changed: %v", name, err)
		}
	}
	if _, err := os.Stat("nowhere.html"); err == nil {
		t.Error("a page was written through a link to a missing file")
	}

	// Pages that locksim has written are replaced, in each format that has pages. Files of the
	// user with the same names are not.
	for _, format := range []string{"html", "svg", "edn", "mermaid"} {
		for range 2 {
			if _, stderr, status := runProcess(t, "run", "story.yaml", "--format", format, "-o", "all/"); status != success {
				t.Errorf("--format %s into a folder with such pages of locksim: %s", format, stderr)
			}
		}
		for _, e := range entries(t, "all") {
			if err := os.WriteFile(filepath.Join("all", e.Name()), []byte("mine"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if _, stderr, status := runProcess(t, "run", "story.yaml", "--format", format, "-o", "all/"); status != badInput || !strings.Contains(stderr, "locksim has not written it") {
			t.Errorf("--format %s into a folder with files of the user: status %d, %s", format, status, stderr)
		}
		if err := os.RemoveAll("all"); err != nil {
			t.Fatal(err)
		}
	}

	// A saved trace can have the name of a page, but it is not a page, so it is not
	// replaced.
	mustRun(t, "run", "story.yaml", "--format", "trace", "-o", "trace.json")
	if err := os.Rename("trace.json", "index.html"); err != nil {
		t.Fatal(err)
	}
	if _, stderr, status := runProcess(t, "report", "index.html", "--format", "html", "-o", "."); status != badInput || !strings.Contains(stderr, "replace index.html, and locksim has not written it") {
		t.Errorf("a page in place of a saved trace: status %d, %s", status, stderr)
	}
}

// entries returns the files of a folder.
func entries(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
