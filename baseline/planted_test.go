package main

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestPlanted: of the real command, two makings of the first seed are equal, and a
// scenario that is told a little differently is found, with what differs in its record,
// and nothing else. The debate is enough for that: that all scenarios come out the same
// is what CI checks with what is known of them.
func TestPlanted(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the command twice")
	}
	if runtime.GOOS == "windows" {
		t.Skip("what lists the debate alone is a shell script")
	}
	ctx := t.Context()
	now, remove, err := checkout(ctx, asItStands, runtime.NumCPU())
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	command := now.program
	now.program = executable(t, filepath.Join(now.scratch, "debate"), `#!/bin/sh
case "$1" in
list) exec "`+command+`" "$@" --group debate ;;
*) exec "`+command+`" "$@" ;;
esac
`)
	dir := t.TempDir()
	made := func(name string, jobs int) string {
		now.commit, now.jobs = name, jobs
		return madeBy(t, ctx, now, filepath.Join(dir, name+".txt"))
	}
	was, again := made("was", runtime.NumCPU()), made("again", 1)
	if stdout, stderr, status := call("compare", was, again); status != 0 {
		t.Fatalf("two makings of the same differ:\n%s%s", stdout, stderr)
	}

	scenario := filepath.Join(now.dir, "scenarios", "gc-pause.yaml")
	text, err := os.ReadFile(scenario)
	if err != nil {
		t.Fatal(err)
	}
	planted := strings.Replace(string(text), "ttl: 30s", "ttl: 31s", 1)
	if planted == string(text) {
		t.Fatalf("%s has no TTL of 30s to change", scenario)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {scenario: put(t, dir, "planted.yaml", planted)}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := output(now.run(ctx, "go", "build", "-overlay", put(t, dir, "overlay.json", string(overlay)), "-o", command, "./cmd/locksim")); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, status := call("compare", was, made("planted", runtime.NumCPU()), "--most", "1000")
	if status != 1 || stderr != "" {
		t.Fatalf("the status is %d, and it says %s", status, stderr)
	}
	for _, want := range []string{
		"scenarios/1  gc-pause --lock redlock --fencing off --seed 1\n",
		"    trace_hash: ",
		"in was and planted: go run ./cmd/locksim run gc-pause --lock redlock --fencing off --seed 1\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("it does not say %q:\n%s", want, stdout)
		}
	}
	for line := range strings.Lines(stdout) {
		if strings.HasPrefix(line, "scenarios/1  ") && !strings.HasPrefix(line, "scenarios/1  gc-pause --") {
			t.Errorf("it finds what was not planted: %s", line)
		}
	}
}

// TestFailedRun: a scenario that cannot be run is an item as others are, with the reason,
// and does not take those with it that are run in the same process.
func TestFailedRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the command here is a shell script")
	}
	const list = `{"schema": "locksim/list/v1", "scenarios": [
		{"name": "gc-pause", "variants": [{"name": "", "locks": ["redlock"]}]},
		{"name": "stuck", "variants": [{"name": "", "locks": ["redlock"]}]}]}`
	good := `{"schema": "locksim/report/v1", "results": [{"scenario": "gc-pause", "runs": [` + aRun + `, ` + `{"fencing": "on", ` + aRunOn + `]}]}`
	make := func() baseline {
		t.Helper()
		dir := t.TempDir()
		put(t, dir, "list.json", list)
		put(t, dir, "good.json", good)
		script := executable(t, filepath.Join(dir, "locksim"), `#!/bin/sh
here=`+dir+`
case "$*" in
list*) cat "$here/list.json"; exit ;;
*stuck*) echo "the world is stuck" >&2; exit 1 ;;
esac
while [ "$1" != -o ]; do shift; done
cp "$here/good.json" "$2"
exit 1
`)
		b, err := read(madeBy(t, t.Context(), &tree{commit: "x", dir: dir, program: script, scratch: dir, jobs: 2}, filepath.Join(dir, "made.txt")))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	was := make()
	verdicts := map[string]string{}
	for _, i := range was.items {
		verdicts[i.key] = i.fact(factVerdict)
	}
	want := map[string]string{
		"gc-pause --lock redlock --fencing off --seed 1": "unsafe",
		"gc-pause --lock redlock --fencing on --seed 1":  "unsafe",
		"stuck --lock redlock --fencing off --seed 1":    failed,
		"stuck --lock redlock --fencing on --seed 1":     failed,
	}
	if !maps.Equal(verdicts, want) {
		t.Errorf("the verdicts are %v, want %v", verdicts, want)
	}
	if again := make(); again.String() != was.String() {
		t.Errorf("in another folder it is\n%s\nand was\n%s", again, was)
	}
}

// executable writes a program for the shell.
func executable(t *testing.T, file, text string) string {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

// aRunOn is aRun with fencing tokens, without the beginning.
var aRunOn = strings.Replace(strings.TrimPrefix(aRun, "{"), `"fencing": "off", `, "", 1)

// madeBy makes the first seed with a tree as it is, and returns the file.
func madeBy(t *testing.T, ctx context.Context, now *tree, file string) string {
	t.Helper()
	all, err := chosen(parts(span{1, 1}), checkedPart)
	if err != nil || len(all) != 1 {
		t.Fatalf("%s is %d parts: %v", checkedPart, len(all), err)
	}
	items, records, err := all[0].made(ctx, now, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var full []recordLine
	for _, i := range records {
		full = append(full, recordLine{i.part, i.key, i.record})
	}
	if err := write(file, baseline{parts: map[string]string{checkedPart: now.commit}, items: items}, full); err != nil {
		t.Fatal(err)
	}
	return file
}
