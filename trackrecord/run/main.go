// Command run tests every library of the track record with the story of its bug (a scenario
// that shows it) and with the whole suite of package locktest, and writes the table in the
// README:
//
//	go run ./trackrecord/run          # everything, and write the table
//	go run ./trackrecord/run NAME...  # only these bugs, and their rows of the table
//	go run ./trackrecord/run -check   # the stories, and the test cases that the table names
//	go run ./trackrecord/run -check -json FILE
//	go run ./trackrecord/run -test NAME/VERSION FLAG...  # go test, with its output
//
// It fails if a version with the bug passes the story, if a version without the bug fails, if a
// sound lock fails the story, or if a story is inconclusive.
//
// With -check it writes nothing, and also fails if the table in the README is out of date;
// the times in the table may differ. With -json it also writes a line of JSON for each
// version: what the version breaks in each world of the story, and the failures in the test
// cases that were run, with the commands that replay them. With -test it does none of this.
// It only runs go test, with the flags that follow, for the test of one bug and one version
// of the library.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locksim/locksim/trackrecord/internal/proof"
)

func main() {
	check := flag.Bool("check", false, "write nothing, and fail if the table is stale")
	records := flag.String("json", "", "write the results of each version to this `file`, as JSON Lines")
	test := flag.Bool("test", false, "only run go test with a version, NAME/VERSION, and the flags after it")
	flag.Parse()
	if err := run(*check, *test, *records, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "trackrecord:", err)
		os.Exit(1)
	}
}

// run executes the command line.
func run(check, test bool, records string, args []string) error {
	root, err := findRoot()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "trackrecord")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	builder := &builder{root: root, scratch: scratch, check: check}
	if test {
		return testOne(builder, args)
	}
	bugs, err := readBugs(builder)
	if err != nil {
		return err
	}
	return testBugs(bugs, root, check, records, args)
}

// testOne runs go test for a version. args are its name, "BUG/VERSION", and flags for go
// test.
func testOne(tests *builder, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("name a version: -test BUG/VERSION")
	}
	b, v, err := proof.Find(args[0])
	if err != nil {
		return err
	}
	if err := newVersion(b, v, tests).test(args[1:]); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return nil
}

// testBugs tests the bugs with some names, or all bugs if there are no names, and updates
// the table. If records is not "", it writes the results of each version to that file.
func testBugs(bugs []*bug, root string, check bool, records string, names []string) error {
	readme := filepath.Join(root, "README.md")
	text, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	oldTable, err := readTable(string(text))
	if err != nil {
		return err
	}

	var newTable table
	var failed []string
	var versions bytes.Buffer
	for _, name := range names {
		if !slices.ContainsFunc(bugs, func(b *bug) bool { return b.name == name }) {
			return fmt.Errorf("there is no bug %q; there are %s", name, strings.Join(namesOf(bugs), ", "))
		}
	}
	for _, b := range bugs {
		old := oldTable.row(b.name)
		if len(names) > 0 && !slices.Contains(names, b.name) {
			if old != nil {
				newTable = append(newTable, *old)
			}
			continue
		}
		fmt.Println(b.name)
		r, err := b.test(check, old)
		if err := b.writeRecords(&versions); err != nil {
			return err
		}
		if err != nil {
			fmt.Println("  ✗", err)
			failed = append(failed, b.name)
			continue
		}
		newTable = append(newTable, r)
	}
	if records != "" {
		if err := os.WriteFile(records, versions.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("these bugs failed: %s", strings.Join(failed, ", "))
	}
	if !check {
		return os.WriteFile(readme, []byte(newTable.replaceIn(string(text))), 0o644)
	}
	if len(names) == 0 && newTable.withoutTimes() != oldTable.withoutTimes() {
		return fmt.Errorf("the table in trackrecord/README.md is out of date; update it with go run ./trackrecord/run; it should be\n\n%s", newTable)
	}
	return nil
}

// findRoot returns the folder of the track record, which may be the current folder, below
// it or above it.
func findRoot() (string, error) {
	for _, dir := range []string{".", "trackrecord", ".."} {
		if _, err := os.Stat(filepath.Join(dir, "trackrecord.go")); err == nil {
			return filepath.Abs(dir)
		}
	}
	return "", fmt.Errorf("there is no track record here; run the program in the folder of the repository")
}

func namesOf(bugs []*bug) []string {
	var names []string
	for _, b := range bugs {
		names = append(names, b.name)
	}
	return names
}
