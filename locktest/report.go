package locktest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	voice "github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/reports"
)

// reportVariable is the environment variable that names the file for the report of all
// tests of a package. It is relative to the folder of the package.
const reportVariable = "LOCKSIM_REPORT"

// reportFormats maps the extension of the file to the format of the report.
var reportFormats = map[string]string{".html": "html", ".md": "markdown", ".xml": "junit", ".json": "json"}

// checkReportFile returns an error if no report can be written to the file that the user
// names. It is called before any world runs.
func checkReportFile() error {
	name := os.Getenv(reportVariable)
	if name == "" {
		return nil
	}
	if reportFormats[filepath.Ext(name)] == "" {
		return fmt.Errorf("locktest: %s is %q; give the name of a file that ends with .html, .md, .xml or .json", reportVariable, name)
	}
	folder, err := os.Stat(filepath.Dir(name))
	if err != nil || !folder.IsDir() {
		return fmt.Errorf("locktest: %s is %q, but there is no folder %s; make it first; the name is relative to the folder of the package", reportVariable, name, filepath.Dir(name))
	}
	return nil
}

// reported are the results of the tests of this process that have ended.
var reported struct {
	sync.Mutex
	tests []reports.SuiteTest
}

// writeReport adds the result of a test to the report, and writes it to the file that the
// user names. If the test ran before, its new result replaces the old one.
func writeReport(test reports.SuiteTest) error {
	name := os.Getenv(reportVariable)
	if name == "" {
		return nil
	}
	reported.Lock()
	defer reported.Unlock()
	reported.tests = slices.DeleteFunc(reported.tests, func(t reports.SuiteTest) bool { return t.Test == test.Test })
	reported.tests = append(reported.tests, test)
	format, _ := reports.Suites.Lookup(reportFormats[filepath.Ext(name)])
	var text bytes.Buffer
	_ = format.Write(&text, &reports.Suite{Tests: reported.tests}, reports.Options{}) // writing to a buffer cannot fail
	if err := replaceFile(name, text.Bytes()); err != nil {
		return fmt.Errorf("locktest: %s: %w", reportVariable, err)
	}
	return nil
}

// replaceFile writes a file as a whole, so that nobody reads half of it.
func replaceFile(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// readKnown reads the file of known mistakes; it returns nil if name is "".
func readKnown(name string) (*reports.Suite, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("locktest: Config.Known: there is no file %s; run the test once without Known and with %s=%s, which writes it", name, reportVariable, name)
	}
	if err != nil {
		return nil, fmt.Errorf("locktest: Config.Known: %w", err)
	}
	defer f.Close()
	known, err := reports.ReadSuite(f)
	if err != nil {
		return nil, fmt.Errorf("locktest: Config.Known: %s: %w", name, err)
	}
	return known, nil
}

// isKnown reports whether a mistake of the test with this name is in a report, with
// everything that it violates.
func isKnown(known *reports.Suite, test string, m reports.SuiteMistake) bool {
	for _, t := range known.Tests {
		if t.Test != test {
			continue
		}
		for _, old := range t.Mistakes {
			isNew := func(rule string) bool { return !slices.Contains(old.Rules, rule) }
			if old.Mistake == m.Mistake && old.Step == m.Step && !slices.ContainsFunc(m.Rules, isNew) {
				return true
			}
		}
	}
	return false
}

// suiteTest returns the result of the test for a report.
func (s *summary) suiteTest() reports.SuiteTest {
	test := reports.SuiteTest{Test: s.test, Lock: s.config.Name, Worlds: s.worlds, Cases: s.cases, Mistakes: []reports.SuiteMistake{}}
	if s.showsNothing() {
		test.Remarks = append(test.Remarks, s.describeUnknown())
	}
	test.Remarks = append(test.Remarks, s.remarks...)
	if s.chance != nil {
		test.Remarks = append(test.Remarks, s.chance.describe())
	}
	for _, c := range s.causes.sorted() {
		m := s.suiteMistake(c)
		m.Known = s.isKnown(c)
		test.Mistakes = append(test.Mistakes, m)
	}
	return test
}

// suiteMistake returns a cause for a report.
func (s *summary) suiteMistake(c cause) reports.SuiteMistake {
	m := reports.SuiteMistake{
		Mistake: string(c.Mistake), Step: string(c.Step), Title: c.title(), Rules: c.rules(),
		Worlds: c.Worlds, Cases: c.Cases, Why: c.Example.Why, Replays: c.replays(s.replayLine),
	}
	if c.Example.Lines != "" {
		m.Lines = strings.Split(strings.TrimRight(clip(c.Example.Lines), "\n"), "\n")
	}
	m.Remedy, m.Lesson = voice.Remedy(c.Mistake)
	return m
}

// withoutKnown returns the result of a test case for its subtest: without the problems that the
// test expects.
func (s *summary) withoutKnown(o testResult) testResult {
	o.Problems = slices.DeleteFunc(slices.Clone(o.Problems), func(p problem) bool {
		i := o.Causes.index(p.Mistake, p.Step)
		return i >= 0 && s.isKnown(o.Causes[i])
	})
	return o
}
