package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// lines make the text of a baseline of these items, their fields separated by bars.
func lines(commit string, parts []string, items ...string) string {
	text := heading + "\n"
	for _, p := range parts {
		text += partHeading + p + "\t" + commit + "\n"
	}
	for _, i := range items {
		text += strings.ReplaceAll(i, "|", "\t") + "\n"
	}
	return text
}

var seedOne = []string{"scenarios/1"}

const (
	gcPause   = "scenarios/1|gc-pause --lock redlock --fencing off --seed 1|verdict=unsafe|judged=11|measures=22|trace=33|told=44"
	clockJump = "scenarios/1|clock-jump --lock redlock --fencing off --seed 1|verdict=unsafe|judged=55|measures=66|trace=77|told=88"
)

func TestCompare(t *testing.T) {
	was := lines("aaa", seedOne, gcPause, clockJump)
	now := func(old, new string) string {
		return strings.Replace(lines("bbb", seedOne, gcPause, clockJump), old, new, 1)
	}
	ways := func(commit, fault string) string {
		return lines(commit, []string{"ways/single"}, "ways/single|--lock single --worlds 5000 # way paused-client|fault="+fault+"|worlds=3")
	}
	mutant := func(commit, world string) string {
		return lines(commit, []string{"mutants/suite"}, "mutants/suite|quorum/no-script|rule=progress|replay=LOCKSIM_REPLAY='"+world+"' go test -run x")
	}
	for _, c := range []struct {
		name     string
		was, is  string
		status   int
		says     []string
		saysNot  []string
		onStderr string
	}{
		{name: "the same but for the commit", was: was, is: now("", ""), says: []string{"scenarios/1: 2 items, 2 the same\n"}},
		{
			name: "another trace", was: was, is: now("trace=33", "trace=34"), status: 1,
			says: []string{
				"scenarios/1: 2 items, 1 the same; 1 differ only in trace\n",
				"\nscenarios/1  gc-pause --lock redlock --fencing off --seed 1\n  trace: 33 → 34\n",
				"  in aaa and bbb: go run ./cmd/locksim run gc-pause --lock redlock --fencing off --seed 1\n",
			},
			saysNot: []string{"clock-jump"},
		},
		{
			name: "another verdict and judgement", was: was, is: now("verdict=unsafe\tjudged=55", "verdict=safe\tjudged=56"), status: 1,
			says: []string{"1 the same; 1 differ in verdict, judged\n", "  verdict: unsafe → safe\n"},
		},
		{
			name: "a run that is gone", was: was, is: lines("bbb", seedOne, gcPause), status: 1,
			says: []string{"1 the same; 1 gone", "  gone: verdict=unsafe judged=55", "  in aaa: go run ./cmd/locksim run clock-jump"},
		},
		{
			name: "a new one", was: lines("aaa", seedOne, gcPause), is: lines("bbb", seedOne, gcPause, clockJump), status: 1,
			says: []string{"2 items, 1 the same; 1 new", "  new: verdict=unsafe judged=55", "  in bbb: go run ./cmd/locksim run clock-jump"},
		},
		{
			name: "a fact that is gone", was: was, is: now("\ttold=44", ""), status: 1,
			says: []string{"1 differ only in told"},
		},
		{
			name: "parts that only one has", was: was, is: lines("bbb", []string{"bugs", "scenarios/1"}, gcPause, clockJump),
			says: []string{"b.txt, and not compared: bugs\n", "2 items, 2 the same"},
		},
		{
			name: "no part in common", was: was, is: ways("bbb", "lock"), status: 2, onStderr: "no part in common",
		},
		{
			name: "a way that is somebody else's fault", was: ways("aaa", "lock"), is: ways("bbb", "assumption: clock"), status: 1,
			says: []string{"ways/single: 1 items, 0 the same; 1 differ only in fault", "  fault: lock → assumption: clock\n", "go run ./cmd/locksim explore --lock single --worlds 5000\n"},
		},
		{
			name: "a mutant that is caught elsewhere", was: mutant("aaa", "loss/extend"), is: mutant("bbb", "late/extend"), status: 1,
			says: []string{"  in aaa: LOCKSIM_REPLAY='loss/extend' go test", "  in bbb: LOCKSIM_REPLAY='late/extend' go test"},
		},
		{
			name:   "a mutant that is not caught any more",
			was:    mutant("aaa", "loss/extend"),
			is:     lines("bbb", []string{"mutants/suite"}, "mutants/suite|quorum/no-script|rule=not caught"),
			status: 1,
			says:   []string{"  rule: progress → not caught\n", "  in bbb: go test -run '^TestMutants$/^quorum$/^no-script$'\n"},
		},
		{name: "no baseline", was: was, is: "hello\n", status: 2, onStderr: `b.txt: line 1 is "hello"`},
		{name: "an empty file", was: was, is: "", status: 2, onStderr: "b.txt: it is empty"},
		{name: "a part that the heading lacks", was: was, is: lines("bbb", nil, gcPause), status: 2, onStderr: "line 2"},
		{name: "an item twice", was: was, is: lines("bbb", seedOne, gcPause, gcPause), status: 2, onStderr: "line 4 has"},
		{name: "half a line", was: was, is: lines("bbb", seedOne, "scenarios/1|gc-pause|verd"), status: 2, onStderr: `line 3 has "verd"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			a, b := put(t, dir, "a.txt", c.was), put(t, dir, "b.txt", c.is)
			stdout, stderr, status := call("compare", a, b)
			if status != c.status {
				t.Errorf("the status is %d, want %d\n%s%s", status, c.status, stdout, stderr)
			}
			for _, s := range c.says {
				if !strings.Contains(stdout, s) {
					t.Errorf("it does not say %q:\n%s", s, stdout)
				}
			}
			for _, s := range c.saysNot {
				if strings.Contains(stdout, s) {
					t.Errorf("it says %q:\n%s", s, stdout)
				}
			}
			if !strings.Contains(stderr, c.onStderr) || (stderr == "") != (c.onStderr == "") {
				t.Errorf("on standard error is %q, want %q", stderr, c.onStderr)
			}
		})
	}
}

// TestCompareRecords: where both have the full records, it is said what in them differs,
// of a group those of the first seed on which it does.
func TestCompareRecords(t *testing.T) {
	dir := t.TempDir()
	file := func(name, traces string) string {
		part := "scenarios/2-4"
		all := runs("safe safe safe", traces)
		b := baseline{parts: map[string]string{part: name}, items: []item{grouped("safe safe safe", traces)}}
		var records []recordLine
		for _, i := range slices.Concat(all[0], all[1]) {
			record, err := json.Marshal(map[string]any{"trace_hash": i.fact(factTrace), "events": []int{1, 2}})
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, recordLine{part, i.key, record})
		}
		path := filepath.Join(dir, name+".txt")
		if err := write(path, b, records); err != nil {
			t.Fatal(err)
		}
		return path
	}
	stdout, stderr, status := call("compare", file("aaa", "aa bb cc"), file("bbb", "aa xx yy"))
	if status != 1 || stderr != "" {
		t.Errorf("the status is %d, and it says %s", status, stderr)
	}
	const want = `
  on 2 seeds: 3 4
  the records of gc-pause --lock redlock --fencing off --seed 3:
    trace_hash: "bb" → "xx"
  the records of gc-pause --lock redlock --fencing on --seed 3:
    trace_hash: "on-bb" → "on-xx"
  in aaa and bbb: go run ./cmd/locksim run gc-pause --lock redlock --seed 3
`
	if !strings.HasSuffix(stdout, want) {
		t.Errorf("it says\n%s\nand should end with\n%s", stdout, want)
	}
}

// TestGroupGone: the line that reproduces a group names one of its seeds.
func TestGroupGone(t *testing.T) {
	dir := t.TempDir()
	g := grouped("safe safe safe", "aa bb cc")
	b := baseline{parts: map[string]string{g.part: "aaa"}, items: []item{g}}
	stdout, _, status := call("compare", put(t, dir, "a.txt", b.String()), put(t, dir, "b.txt", lines("bbb", []string{g.part})))
	if want := "  in aaa: go run ./cmd/locksim run gc-pause --lock redlock --seed 2\n"; status != 1 || !strings.HasSuffix(stdout, want) {
		t.Errorf("the status is %d, and it says\n%s\nwant %s", status, stdout, want)
	}
}

// TestMost: many differences are counted, and not all told.
func TestMost(t *testing.T) {
	dir := t.TempDir()
	a := put(t, dir, "a.txt", lines("aaa", seedOne))
	b := put(t, dir, "b.txt", lines("bbb", seedOne, gcPause, clockJump))
	stdout, _, status := call("compare", a, b, "--most", "1")
	if status != 1 || !strings.Contains(stdout, "2 new") || !strings.Contains(stdout, "scenarios/1: 1 more") || strings.Contains(stdout, "run gc-pause") {
		t.Errorf("the status is %d, and it says\n%s", status, stdout)
	}
}

func TestApart(t *testing.T) {
	for _, c := range []struct{ was, is, want string }{
		{`{"a": 1}`, `{"a": 1}`, ""},
		{`{"a": 1, "b": [1, {"c": "x"}]}`, `{"b": [1, {"c": "y"}], "a": 1}`, `b[1].c: "x" → "y"`},
		{`{"a": [1, 2]}`, `{"a": [1]}`, "a: 2 entries → 1"},
		{`{"a": 1}`, `{"b": 2}`, "a: gone, it was 1\nb: new, 2"},
		{`{"at": 9007199254740993}`, `{"at": 9007199254740992}`, "at: 9007199254740993 → 9007199254740992"},
		{`{"a": [1]}`, `{"a": {"b": 1}}`, `a: [1] → {"b":1}`},
	} {
		if got := strings.Join(apart(json.RawMessage(c.was), json.RawMessage(c.is)), "\n"); got != c.want {
			t.Errorf("%s and %s: %q, want %q", c.was, c.is, got, c.want)
		}
	}
}

// TestRoundTrip: what is read from a file is what was written, in order, even if a value
// has what separates fields.
func TestRoundTrip(t *testing.T) {
	text := lines("aaa", seedOne, clockJump, gcPause)
	b, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	b.items[0], b.items[1] = b.items[1], b.items[0]
	if got := b.String(); got != text {
		t.Errorf("it is\n%s\nand was\n%s", got, text)
	}
	b.items[0].facts = append(b.items[0].facts, fact{"replay", "a\tb\nc=d"})
	again, err := parse(b.String())
	if err != nil {
		t.Fatal(err)
	}
	if got := again.of("scenarios/1")[b.items[0].key].fact("replay"); got != `a\tb\nc=d` {
		t.Errorf("the fact is %q", got)
	}
}

// TestUsage: bad usage ends with status 2 and says what to do.
func TestUsage(t *testing.T) {
	dir := t.TempDir()
	none := filepath.Join(dir, "none.txt")
	for _, c := range []struct {
		args string
		says string
	}{
		{"", "make, compare or check"},
		{"mke", `no command "mke"`},
		{"make -o x.txt", "name one commit"},
		{"make a b -o x.txt", "here are 2"},
		{"make HEAD", "ends with .txt"},
		{"make HEAD -o x.json", "ends with .txt"},
		{"make HEAD -o x.txt --only wys", "there are scenarios/1, scenarios/2-20, mutants/suite"},
		{"make HEAD -o x.txt --seeds 3-1", "as in 1-20"},
		{"make HEAD -o x.txt --jobs 0", "from 1 on"},
		{"make no-such-commit -o " + none + " --only scenarios/1", "no commit of this repository"},
		{"make --colour HEAD", "-colour"},
		{"compare " + none, "name two files"},
		{"compare " + none + " " + none, "no such file"},
		{"check a b", "name one file or none"},
		{"check " + none, "no such file"},
	} {
		stdout, stderr, status := call(strings.Fields(c.args)...)
		if status != 2 || !strings.Contains(stderr, c.says) || stdout != "" {
			t.Errorf("%s: status %d, %q, want 2 and that it says %q", c.args, status, stderr, c.says)
		}
	}
	if stdout, _, status := call("--help"); status != 0 || !strings.Contains(stdout, "make COMMIT") {
		t.Errorf("--help: status %d, %s", status, stdout)
	}
	if _, stderr, status := call("make", "--help"); status != 0 || !strings.Contains(stderr, "-seeds") {
		t.Errorf("make --help: status %d, %s", status, stderr)
	}
}

// call calls the program.
func call(args ...string) (stdout, stderr string, status int) {
	var out, err bytes.Buffer
	status = program(context.Background(), args, &out, &err)
	return out.String(), err.String(), status
}

func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
