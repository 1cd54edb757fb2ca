//go:build unix

package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// hostileNames are file names that would do harm if they were not printed as text: a line
// that is a command to GitHub, a control sequence of a terminal, a flag, special characters
// of a shell.
var hostileNames = []string{
	"x\n::error::boo.yaml",
	"x\r\n  ::error::boo.yaml",
	"\x1b[2J\a.yaml",
	"x\u202e\u2028\u009b.yaml",
	"x\xff\xed\xa0\x80.yaml",
	"-x.yaml",
	"--seed",
	"it's $HOME `id` \"$(id)\" \\n %s %% !! * ~ & ; | #.yaml",
	" x  y\t.yaml",
	"~",
}

const quietScenario = `title: Nothing goes wrong
lock: {kind: single, ttl: 10s}
clients:
  client-1: {}
`

// checkHarmless fails the test if printing the text has an effect in addition to showing
// it.
func checkHarmless(t *testing.T, what, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s is not UTF-8: %q", what, text)
	}
	for _, c := range text {
		if c != '\n' && (unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp)) {
			t.Errorf("%s contains a %U: %q", what, c, text)
			break
		}
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "::") || strings.HasPrefix(line, "##") {
			t.Errorf("%s contains the command %q: %q", what, line, text)
		}
	}
}

// Each command prints the name of any file as text, both when it succeeds and when it
// fails.
func TestHostileNamesArePrintedAsText(t *testing.T) {
	names := hostileNames
	if testing.Short() {
		names = names[:2]
	}
	for _, name := range names {
		t.Chdir(t.TempDir())
		write := func(name, text string) string {
			t.Helper()
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			return name
		}
		file := write("./"+name, quietScenario)
		bad := write("bad/"+name, "title: x\n"+quietScenario)
		dir := filepath.Dir(write("in "+name+"/x.yaml", quietScenario))
		empty := "empty " + name
		if err := os.Mkdir(empty, 0o777); err != nil {
			t.Fatal(err)
		}
		none := "none" + name
		if _, _, status := runInProcess("run", file, "--format", "trace", "-o", "trace.json"); status != success {
			t.Fatalf("the file %q cannot be run", name)
		}
		for _, c := range []struct {
			status int
			args   []string
		}{
			{success, []string{"validate", file, dir}},
			{badInput, []string{"validate", file, bad, none, empty}},
			{success, []string{"run", file, dir}},
			{success, []string{"run", file, "--check-determinism", "1"}},
			{badInput, []string{"run", bad}},
			{badInput, []string{"run", none}},
			{badInput, []string{"run", file, "-o", none + "/report"}},
			{badInput, []string{"run", file, "-o", file + "/report"}},
			{badInput, []string{"run", file, "-o", empty}},
			{badInput, []string{"run", file, "--variant", name}},
			{badInput, []string{"run", file, "--lock=" + name}},
			{badInput, []string{"run", file, "--format=" + name}},
			{badInput, []string{"run", file, "--" + name}},
			{badInput, []string{"run", file, "--seed=" + name}},
			{success, []string{"run", file, "fencing-without-lock", "gc-pause", "--lock", "single"}},
			{badInput, []string{"run", file, "--format", "html", "-o", "site/", "--explored", file}},
			{success, []string{"run", file, "--format", "html", "-o", "site of " + name + "/"}},
			{success, []string{"explain", file}},
			{badInput, []string{"explain", bad}},
			{badInput, []string{"explain", none}},
			{success, []string{"matrix", file}},
			{badInput, []string{"matrix", bad}},
			{success, []string{"report", "trace.json"}},
			{badInput, []string{"report", file}},
			{badInput, []string{"report", none}},
			{badInput, []string{"explore", bad}},
			{badInput, []string{"explore", none}},
			{badInput, []string{"explore", file, "--variant=" + name}},
			{badInput, []string{"explore", file, "--lock=" + name}},
			{badInput, []string{"explore", file, "--expect", file}},
			{badInput, []string{"explore", file, "--ways", file}},
			{badInput, []string{"explore", file, "--ledger", file}},
			{badInput, []string{"explore", file, "--ledger", none + "/ledger"}},
			{badInput, []string{"explore", file, "--resume", file}},
			{badInput, []string{"explore", file, "--shard=" + name}},
			{badInput, []string{"merge", file}},
			{badInput, []string{"merge", none}},
			{badInput, []string{"list", "--group=" + name}},
			{badInput, []string{"x" + name}},
			{badInput, []string{"completion", "x" + name}},
		} {
			what := "locksim " + strings.Join(c.args, " ")
			stdout, stderr, status := runInProcess(c.args...)
			if status != c.status {
				t.Errorf("%q: status %d, want %d: %s", what, status, c.status, stderr)
			}
			checkHarmless(t, "standard output of "+strings.ToValidUTF8(what, "?"), stdout)
			checkHarmless(t, "standard error of "+strings.ToValidUTF8(what, "?"), stderr)
		}
	}
}

// runInProcess runs a command line in this process. It returns what the command wrote, and
// its exit status.
func runInProcess(args ...string) (stdout, stderr string, status int) {
	var outText, errText strings.Builder
	status = locksim(args, &outText, &errText)
	return outText.String(), errText.String(), status
}

// The replay line in a report runs the same scenario again when a shell executes it.
func TestReplayInAShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	checkReplay := func(t *testing.T, args ...string) {
		t.Helper()
		first, stderr, status := runInProcess(args...)
		if status != success {
			t.Fatalf("locksim %q: status %d: %s", args, status, stderr)
		}
		_, line, found := strings.Cut(first, "\nreplay: ")
		if !found {
			t.Fatalf("the output of locksim %q has no replay line: %s", args, first)
		}
		line, _, _ = strings.Cut(line, "\n")
		again, err := exec.Command(sh, "-c", line).CombinedOutput()
		if err != nil || string(again) != first {
			t.Errorf("sh runs %s: %v, and the output is\n%s\nwant that of the first run\n%s", line, err, again, first)
		}
	}
	for _, name := range hostileNames {
		t.Run(strings.ToValidUTF8(name, "?"), func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.WriteFile(name, []byte(quietScenario), 0o666); err != nil {
				t.Fatal(err)
			}
			checkReplay(t, "run", "--", name)
			checkReplay(t, "explain", "--", name)
			if strings.HasSuffix(name, ".yaml") {
				checkReplay(t, "run", ".")
			}
		})
	}
}
