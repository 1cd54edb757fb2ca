// Package trial runs the tests of a Go package on mutants of a lock, one at a time. A mutant is a
// copy of the lock's source with one mistake. An overlay makes the go command compile the mutant
// instead of the lock, so no file of the user is changed.
package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/gotool"
	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/internal/mutate"
	"github.com/locksim/locksim/reports"
)

// A Result says how the tests of a mutant ended.
type Result string

// The results. A mutant that does not compile is not counted.
const (
	Caught         Result = "caught"
	TimedOut       Result = "caught: time limit"
	Survived       Result = "survived"
	DoesNotCompile Result = "does not compile"
)

// IsCounted reports whether a mutant with this result says something about the tests.
func (r Result) IsCounted() bool { return r != DoesNotCompile }

// An Outcome is what the tests have shown about a mutant.
type Outcome struct {
	Result Result
	// Test is the first test that failed. Why says why it failed: the title of the worst mistake
	// that package locktest has found, or else the first line of the test's message. Why is the
	// first error of the compiler if the mutant does not compile.
	Test, Why string
}

// Try runs the tests on a mutant. limit is the time after which go test stops them. Try returns an
// error only if the tests could not be run or if ctx has ended.
func (s *Subject) Try(ctx context.Context, m mutate.Mutant, limit time.Duration) (Outcome, error) {
	mutant := filepath.Join(s.temp, "mutant"+filepath.Ext(m.File))
	overlay := filepath.Join(s.temp, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{m.File: mutant}})
	if err == nil {
		err = errors.Join(os.WriteFile(mutant, m.Text, 0o600), os.WriteFile(overlay, text, 0o600))
	}
	if err != nil {
		return Outcome{}, err
	}
	passed, out, err := s.test(ctx, limit, "-overlay="+overlay)
	switch {
	case err != nil:
		return Outcome{}, err
	case passed:
		return Outcome{Result: Survived}, nil
	case notBuilt().MatchString(out):
		return Outcome{Result: DoesNotCompile, Why: firstMatch(compilerError, out)}, nil
	case strings.Contains(out, "panic: test timed out after ") || strings.Contains(out, "*** Test killed"):
		return Outcome{Result: TimedOut, Why: fmt.Sprintf("the tests do not end within %v", limit)}, nil
	}
	o := Outcome{Result: Caught, Test: firstMatch(failedTest, out), Why: firstMatch(failure, out)}
	if o.Test == "" && !died().MatchString(out) {
		return Outcome{}, gotool.Lines("go test failed, and no test did:\n" + lastLines(out, 40))
	}
	if test, title := s.firstMistake(); title != "" {
		o.Test, o.Why = test, title
	}
	return o, nil
}

var (
	// notBuilt matches the line by which go test says that the package does not compile.
	notBuilt = lazy.Regexp(`(?m)^FAIL\t\S+ \[(?:build|setup) failed\]$`)
	// compilerError matches an error of the compiler; its group is the error without the
	// place.
	compilerError = lazy.Regexp(`(?m)^\S+\.go:\d+:\d+: (.*)$`)
	// failedTest matches the line that says that a test has failed; its group is the test's
	// name.
	failedTest = lazy.Regexp(`(?m)^\s*--- FAIL: (\S+)`)
	// died matches the line by which a test's binary says that it has died.
	died = lazy.Regexp(`(?m)^(?:panic: |fatal error: |FAIL\t|exit status |signal: )`)
	// failure matches the first line of what a failing test says, or of a panic.
	failure = lazy.Regexp(`(?m)^(?:\s+\S+\.go:\d+: |panic: )(.*)$`)
	// noTests matches the line of a package whose tests did not run.
	noTests = lazy.Regexp(`\[no test(?: file)?s(?: to run)?\]`)
)

// firstMatch returns the group of the first match of an expression in a text, or "".
func firstMatch(e func() *regexp.Regexp, text string) string {
	if m := e().FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// RunUnmutated runs the tests on the lock without a mistake, and returns how long they took.
// If they fail or do not end within the limit, the error contains their output.
func (s *Subject) RunUnmutated(ctx context.Context, limit time.Duration) (time.Duration, error) {
	start := time.Now()
	passed, out, err := s.test(ctx, limit)
	switch {
	case err != nil:
		return 0, err
	case !passed:
		return 0, gotool.Lines("the tests fail without any mutant; let them pass first, or select those that do after --, such as -- -run TestLock\n" + lastLines(out, 40))
	case noTests().MatchString(out):
		return 0, fmt.Errorf("%s has no test to run: %s", s.Package, strings.TrimSpace(out))
	}
	return time.Since(start), nil
}

// lastLines returns the last lines of a text, at most n.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// test runs go test once. passed reports whether all tests pass; out is what go test
// printed.
func (s *Subject) test(ctx context.Context, limit time.Duration, flags ...string) (passed bool, out string, err error) {
	if err := os.Remove(s.report()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, "", err
	}
	// The package comes before the arguments of the user: go test accepts no package after
	// a flag that it does not know.
	//
	// -count=1 prevents a result from Go's cache, for which no report would be written. -vet=off
	// prevents that go vet finds mutants before the tests do.
	args := slices.Concat([]string{"test", "-count=1", "-vet=off", "-timeout=" + limit.String()}, s.modFlags, flags, []string{s.Package}, s.arguments)
	cmd := s.command(ctx, args...)
	cmd.Env = append(cmd.Env, "LOCKSIM_REPORT="+s.report())
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return false, "", ctx.Err()
	case cmd.ProcessState == nil:
		return false, "", fmt.Errorf("go test: %w", err)
	}
	return cmd.ProcessState.Success(), printed.String(), nil
}

// report returns the name of the file to which package locktest writes its report.
func (s *Subject) report() string { return filepath.Join(s.temp, "report.json") }

// firstMistake returns the title of the first mistake in the report of package locktest that
// is not marked as known, and the name of the test that found it; title is "" if there is
// none.
func (s *Subject) firstMistake() (test, title string) {
	f, err := os.Open(s.report())
	if err != nil {
		return "", "" // the tests that ran do not use locktest.Run
	}
	defer f.Close()
	suite, err := reports.ReadSuite(f)
	if err != nil {
		return "", "" // of another version of locktest
	}
	for _, t := range suite.Tests {
		for _, m := range t.Mistakes {
			if !m.Known {
				return t.Test, m.Title
			}
		}
	}
	return "", ""
}
