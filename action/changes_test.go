package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// The test program is also the command locksim and the command go of these tests, so that no
// program has to be built. Its locksim run really runs scenarios.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "-as" {
		if err := runAs(os.Args[2], os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// runAs runs locksim run --format json FILE, go list, or go test.
func runAs(program string, args []string) error {
	// A workflow command, as the code of a pull request could print it.
	fmt.Fprintln(os.Stderr, "::add-mask::x")
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "GITHUB_OUTPUT=") || strings.HasPrefix(v, "GITHUB_TOKEN=") {
			return fmt.Errorf("the program has the variable %s", v)
		}
	}
	switch {
	case program == "locksim" && args[0] == "run":
		name := args[len(args)-1]
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		s, err := scenarios.Parse(name, data)
		if err != nil {
			return err
		}
		r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
		if err != nil {
			return err
		}
		format, _ := reports.Runs.Lookup("json")
		return format.Write(os.Stdout, reports.Results{r}, reports.Options{})
	case program == "locksim" && args[0] == "explore":
		data, err := os.ReadFile("found.json")
		if err != nil {
			return err
		}
		_, err = os.Stdout.Write(data)
		return err
	case program == "go" && args[0] == "list":
		fmt.Println("example.com/mine/lock")
		return nil
	case program == "go" && args[0] == "test":
		if got := strings.Join(args[1:], " "); got != "-count=1 example.com/mine/lock" {
			return fmt.Errorf("go test has the arguments %s", got)
		}
		data, err := os.ReadFile("suite.json")
		if err != nil {
			return errors.New("lock.go:1: it does not compile")
		}
		return os.WriteFile(os.Getenv("LOCKSIM_REPORT"), data, 0o666)
	}
	return fmt.Errorf("%s %q is unknown", program, args)
}

const pauseScenario = `title: A pause
unscripted: true
lock: {kind: single, ttl: 30s}
clients:
  client-1: {}
  client-2: {starts: client-1's keys expired}
faults:
  - before: client-1 write
    pause: client-1
    for: %s
`

// A clone is a repository with a base and a pull request.
type clone struct {
	t      *testing.T
	folder string
	env    map[string]string
}

// newClone makes a repository: base and head have the contents of files. The name of the branch is
// a command, if a shell expands it.
func newClone(t *testing.T, base, head map[string]string) *clone {
	folder, scratch := t.TempDir(), t.TempDir()
	c := &clone{t, folder, map[string]string{
		"GITHUB_WORKSPACE": folder, "RUNNER_TEMP": scratch,
		"GITHUB_STEP_SUMMARY": filepath.Join(scratch, "summary"), "GITHUB_OUTPUT": filepath.Join(scratch, "output"),
		"LOCKSIM_COMMAND": os.Args[0] + " -as locksim",
	}}
	c.git("init", "-q", "-b", "main")
	c.commit(base)
	c.git("checkout", "-q", "-b", "$(touch${IFS}pwned)")
	c.commit(head)
	t.Setenv("GITHUB_OUTPUT", "must not be given to programs")
	t.Setenv("GITHUB_TOKEN", "secret")
	return c
}

func (c *clone) git(args ...string) string {
	c.t.Helper()
	identity := []string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}
	out, err := git(c.t.Context(), c.folder, slices.Concat(identity, args)...)
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

func (c *clone) commit(files map[string]string) {
	c.t.Helper()
	c.git("rm", "-r", "-q", "--ignore-unmatch", ".")
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(c.folder, name), []byte(text), 0o666); err != nil {
			c.t.Fatal(err)
		}
	}
	c.git("add", "-A")
	c.git("commit", "-q", "--allow-empty", "-m", "$(touch pwned)")
}

// compare runs the subcommand changes, and returns the document and the error.
func (c *clone) compare() (*document, error) {
	c.t.Helper()
	s, err := readSettings(func(name string) string { return c.env[name] })
	if err != nil {
		c.t.Fatal(err)
	}
	s.Go = []string{os.Args[0], "-as", "go"}
	e := openEvent(c.t, "pull_request")
	e.PullRequest.Base.SHA, e.PullRequest.Head.SHA = c.git("rev-parse", "main"), c.git("rev-parse", "HEAD")
	err = writeChanges(c.t.Context(), e, s)
	if err != nil && !errors.Is(err, errBroken) {
		c.t.Fatal(err)
	}
	d, readErr := readChanges(s.Changes)
	if readErr != nil {
		c.t.Fatal(readErr)
	}
	if _, err := os.Stat(filepath.Join(c.folder, "pwned")); err == nil {
		c.t.Error("a text of the pull request was executed")
	}
	if trees := c.git("worktree", "list"); strings.Count(trees, "\n") != 0 {
		c.t.Errorf("a tree is left behind:\n%s", trees)
	}
	return d, err
}

// titles returns the titles of changes.
func titles(changes []change) (all []string) {
	for _, c := range changes {
		all = append(all, c.Title+": "+c.Detail)
	}
	return all
}

func TestChangesOfScenarios(t *testing.T) {
	long, short := fmt.Sprintf(pauseScenario, "40s"), fmt.Sprintf(pauseScenario, "20s")
	const name = "$(touch${IFS}pwned).yaml"
	for _, test := range []struct {
		what, base, head         string
		new, healed              int
		problem, noBase, headsUp string
		broken                   bool
	}{
		{what: "worse", base: short, head: long, new: 2, headsUp: "2 new failures", broken: true},
		{what: "better", base: long, head: short, healed: 2, headsUp: "2 healed"},
		{what: "equal", base: long, head: long, headsUp: "nothing changed"},
		{what: "added", base: "", head: long, new: 2, noBase: "no such file", headsUp: "2 new failures", broken: true},
		{what: "not a scenario", base: long, head: "lock: {kind: nonesuch}", problem: "nonesuch", headsUp: "1 failed command", broken: true},
		{what: "not as expected", base: long, head: long + "expect: {off: {verdict: safe}}\n", new: 1, headsUp: "1 new failure", broken: true},
	} {
		t.Run(test.what, func(t *testing.T) {
			base := map[string]string{}
			if test.base != "" {
				base[name] = test.base
			}
			c := newClone(t, base, map[string]string{name: test.head})
			c.env["LOCKSIM_RUN"] = name
			d, err := c.compare()
			if (err != nil) != test.broken {
				t.Errorf("the step ends with %v", err)
			}
			p := d.Parts[0]
			if len(p.New) != test.new || len(p.Healed) != test.healed || len(p.Unknown) != 0 {
				t.Errorf("new %q, healed %q, unknown %q", titles(p.New), titles(p.Healed), titles(p.Unknown))
			}
			if !strings.Contains(p.Problem, test.problem) || (p.Problem == "") != (test.problem == "") {
				t.Errorf("problem %q, want %q", p.Problem, test.problem)
			}
			if !strings.Contains(p.NoBase, test.noBase) || (p.NoBase == "") != (test.noBase == "") {
				t.Errorf("no base: %q, want %q", p.NoBase, test.noBase)
			}
			summary, _ := os.ReadFile(c.env["GITHUB_STEP_SUMMARY"])
			if !strings.HasPrefix(string(summary), "### locksim: "+test.headsUp+"\n") {
				t.Errorf("the summary is\n%s", summary)
			}
			output, _ := os.ReadFile(c.env["GITHUB_OUTPUT"])
			if !strings.Contains(string(output), fmt.Sprintf("\nnew=%d\nhealed=%d\n", test.new, test.healed)) {
				t.Errorf("the outputs are\n%s", output)
			}
		})
	}
}

// The replay and the title of a change say which run it is.
func TestChangeNamesTheRun(t *testing.T) {
	c := newClone(t, map[string]string{"mine.yaml": fmt.Sprintf(pauseScenario, "20s")}, map[string]string{"mine.yaml": fmt.Sprintf(pauseScenario, "40s")})
	c.env["LOCKSIM_RUN"], c.env["LOCKSIM_FAIL_ON"] = "mine.yaml", "never"
	d, err := c.compare()
	if err != nil {
		t.Errorf("with fail-on never, the step ends with %v", err)
	}
	want := change{"mine with single, without fencing tokens", "violates grant-order, no-lost-update, section-exclusion, serial-sections, write-order", "locksim run mine.yaml --seed 1"}
	if got := d.Parts[0].New[0]; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestChangesOfTheSuite(t *testing.T) {
	suite := func(mistakes ...reports.SuiteMistake) string {
		format, _ := reports.Suites.Lookup("json")
		var b bytes.Buffer
		if err := format.Write(&b, &reports.Suite{Tests: []reports.SuiteTest{{Test: "TestMine", Mistakes: mistakes}}}, reports.Options{}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	loss := reports.SuiteMistake{Mistake: "no-owner-check", Step: "release", Title: "the release deletes another client's key", Rules: []string{"release-ownership"}, Replays: []string{"LOCKSIM_REPLAY='x' go test"}}
	worse := loss
	worse.Rules = []string{"release-ownership", "section-exclusion"}
	for _, test := range []struct {
		what, base, head     string
		new, healed, unknown []string
	}{
		{what: "a new mistake", base: suite(), head: suite(loss), new: []string{"TestMine: the release deletes another client's key: violates release-ownership"}},
		{what: "a worse one", base: suite(loss), head: suite(worse), new: []string{"TestMine: the release deletes another client's key: now also violates section-exclusion"}},
		{what: "a milder one", base: suite(worse), head: suite(loss), healed: []string{"TestMine: the release deletes another client's key: no longer violates section-exclusion"}},
		{what: "a healed one", base: suite(loss), head: suite(), healed: []string{"TestMine: the release deletes another client's key: is not there any more; it violated release-ownership"}},
		{what: "the same", base: suite(loss), head: suite(loss)},
		{what: "it does not compile", base: suite(loss), head: "", unknown: []string{"example.com/mine/lock: lock.go:1: it does not compile"}},
		{what: "no report", base: suite(), head: "{", unknown: []string{"example.com/mine/lock: it is no report of locktest in the format json: unexpected EOF"}},
	} {
		t.Run(test.what, func(t *testing.T) {
			files := func(text string) map[string]string {
				if text == "" {
					return nil
				}
				return map[string]string{"suite.json": text}
			}
			c := newClone(t, files(test.base), files(test.head))
			c.env["LOCKSIM_TEST"] = "./..."
			d, err := c.compare()
			if (err != nil) != (len(test.new)+len(test.unknown) > 0) {
				t.Errorf("the step ends with %v", err)
			}
			p := d.Parts[0]
			for _, part := range []struct{ got, want []string }{{titles(p.New), test.new}, {titles(p.Healed), test.healed}, {titles(p.Unknown), test.unknown}} {
				if !slices.Equal(part.got, part.want) {
					t.Errorf("got  %q\nwant %q", part.got, part.want)
				}
			}
		})
	}
}

// The result of a search is a report of locksim explore: one way less, and one that has become
// worse.
func TestChangesOfASearch(t *testing.T) {
	full, err := os.ReadFile("../command/testdata/known/redlock-on-3-nodes.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(full, &doc); err != nil {
		t.Fatal(err)
	}
	ways := doc["ways"].([]any)
	first := ways[0].(map[string]any)
	doc["ways"] = ways[:len(ways)-1]
	first["with_fencing"] = []any{}
	fewer, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	found := func(data []byte) map[string]string { return map[string]string{"found.json": string(data)} }
	for _, test := range []struct {
		base, head  []byte
		new, healed int
	}{
		{full, full, 0, 0},
		{fewer, full, 2, 0},
		{full, fewer, 0, 1},
		{nil, full, len(ways), 0},
	} {
		base := found(test.base)
		if test.base == nil {
			base = nil
		}
		c := newClone(t, base, found(test.head))
		c.env["LOCKSIM_EXPLORE"] = "--lock redlock --nodes 3"
		d, _ := c.compare()
		if p := d.Parts[0]; len(p.New) != test.new || len(p.Healed) != test.healed {
			t.Errorf("new %q, healed %q; want %d and %d", titles(p.New), titles(p.Healed), test.new, test.healed)
		}
	}
	var before, after explore.Result
	p := part{}
	p.compareSearches(&before, &after)
	if len(p.New)+len(p.Healed) != 0 {
		t.Error("two searches that found nothing differ")
	}
}
