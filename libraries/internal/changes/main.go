// Command changes compares the mistakes of two versions of a lock library. Those of the version
// that locksim requires are recorded. Those of the other version were found by package locktest.
//
//	go run ./internal/changes KNOWN REPORT
//
// KNOWN is the known.json of a folder of tests; it has the recorded mistakes. REPORT is the file
// that these tests write with the other version, if the environment variable LOCKSIM_REPORT names
// it. The result is Markdown. The exit status is 1 if there is a difference, and 2 if the command
// cannot do its work.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
)

func main() {
	if len(os.Args) != 3 {
		fail("usage: changes KNOWN REPORT")
	}
	known, err := readReport(os.Args[1])
	if err != nil {
		fail(err)
	}
	found, err := readReport(os.Args[2])
	if err != nil {
		fail(err)
	}
	if describe(os.Stdout, known, found) {
		os.Exit(1)
	}
}

// fail prints why the command cannot do its work, and ends it.
func fail(why any) {
	fmt.Fprintln(os.Stderr, "changes:", why)
	os.Exit(2)
}

// A report is what this command reads of KNOWN or of REPORT.
type report struct {
	Tests []struct {
		Test     string
		Mistakes []mistake
	}
}

// A mistake is one mistake of a lock. Mistake (its name) and Step (the call in which the lock makes
// it) identify it. Title says what the lock does wrong. Rules are the rules that this violates,
// such as properties of package checks.
type mistake struct {
	Mistake, Step, Title string
	Rules                []string
}

// readReport reads a file. A file without tests is an error, because it says nothing about the
// lock.
func readReport(name string) (r report, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	if len(r.Tests) == 0 {
		return r, fmt.Errorf("%s has no tests: did the tests run to their end?", name)
	}
	return r, nil
}

// mistakesOf returns the mistakes of a test, and whether the report has the test.
func (r report) mistakesOf(test string) ([]mistake, bool) {
	for _, t := range r.Tests {
		if t.Test == test {
			return t.Mistakes, true
		}
	}
	return nil, false
}

// describe writes how two reports differ, and reports whether they do.
func describe(w io.Writer, known, found report) (differ bool) {
	say := func(test, what string) {
		differ = true
		fmt.Fprintf(w, "- %s: %s\n", test, what)
	}
	for _, t := range known.Tests {
		now, ran := found.mistakesOf(t.Test)
		if !ran {
			say(t.Test, "did not run")
			continue
		}
		for _, m := range t.Mistakes {
			switch i := slices.IndexFunc(now, m.isSame); {
			case i < 0:
				say(t.Test, "no longer found: "+m.Title)
			case !slices.Equal(sorted(m.Rules), sorted(now[i].Rules)):
				say(t.Test, fmt.Sprintf("%s: violates %v, before %v", m.Title, sorted(now[i].Rules), sorted(m.Rules)))
			}
		}
	}
	for _, t := range found.Tests {
		before, _ := known.mistakesOf(t.Test)
		for _, m := range t.Mistakes {
			if !slices.ContainsFunc(before, m.isSame) {
				say(t.Test, "new: "+m.Title)
			}
		}
	}
	if !differ {
		fmt.Fprintln(w, "- no change")
	}
	return differ
}

// isSame reports whether two mistakes, of different reports, are the same one. Their titles and
// rules may differ.
func (m mistake) isSame(other mistake) bool {
	return m.Mistake == other.Mistake && m.Step == other.Step
}

// sorted returns a sorted copy.
func sorted(words []string) []string {
	words = slices.Clone(words)
	slices.Sort(words)
	return words
}
