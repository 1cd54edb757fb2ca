package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/trackrecord/internal/proof"
)

// A version is a version of a library under test, with its results.
type version struct {
	proof.Version
	bug     proof.Bug
	builder *builder
	record  record
}

// A record is the results of a version as one line of JSON.
type record struct {
	Bug string `json:"bug"`
	// Module is the name of the version in versions.json.
	Module  string `json:"module"`
	Library string `json:"library"`
	Version string `json:"version"`
	// Broken are the rules that the version breaks in its story. Worlds are the results of
	// the worlds of the story, each a [proof.WorldResult].
	Broken []string          `json:"broken"`
	Worlds []json.RawMessage `json:"told"`
	// Suite are the failures in the test cases of the suite that were run, each a
	// [locktest.Finding].
	Suite []json.RawMessage `json:"suite"`
}

func newVersion(b proof.Bug, v proof.Version, with *builder) *version {
	return &version{Version: v, bug: b, builder: with, record: record{
		Bug: b.Name, Module: v.Name, Library: b.Library, Version: v.Number,
		Broken: []string{}, Worlds: []json.RawMessage{}, Suite: []json.RawMessage{},
	}}
}

// title returns the version's number, with its name if that adds something.
func (v *version) title() string {
	switch {
	case v.Name == "bad", v.Name == "fixed", strings.HasSuffix(v.Name, v.Number):
		return v.Number
	}
	return v.Number + " " + v.Name
}

// binary returns the path of the compiled test. Versions of several bugs can share it.
func (v *version) binary() string {
	return v.builder.scratchFile(v, "-"+strings.ReplaceAll(v.bug.Test, "/", "-")+".test")
}

// build compiles the version's test.
func (v *version) build() error {
	if _, err := os.Stat(v.binary()); err == nil {
		return nil
	}
	cmd, err := v.builder.goTest(v, "-c", "-o", v.binary())
	if err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("in %s: %s: %w\n%s", cmd.Dir, cmd, err, out)
	}
	return v.builder.keepSums(v)
}

// environment returns the variable that names the bug and the version for the test.
func (v *version) environment() string {
	return proof.BugVariable + "=" + v.bug.Name + "/" + v.Name
}

// test runs go test with the version, with its output on the terminal.
func (v *version) test(args []string) error {
	cmd, err := v.builder.goTest(v, args...)
	if err != nil {
		return err
	}
	cmd.Env = append(cmd.Env, v.environment())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	failed := cmd.Run()
	if err := v.builder.keepSums(v); err != nil {
		return err
	}
	return failed
}

// A testOutput is the output of a test, line by line.
type testOutput []string

// run runs the subtests that a pattern selects, in the way of go test.
func (v *version) run(pattern string, env ...string) (testOutput, error) {
	cmd := exec.Command(v.binary(), "-test.v", "-test.run="+pattern)
	cmd.Dir = v.builder.inLibraries(v.bug.Test)
	cmd.Env = append(append(os.Environ(), v.environment()), env...)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return nil, fmt.Errorf("%s: %w\n%s", v.Name, err, out)
	}
	return strings.Split(string(out), "\n"), nil
}

// attributes returns the values of an attribute of the test.
func (r testOutput) attributes(key string) []string {
	var values []string
	for _, line := range r {
		if rest, ok := strings.CutPrefix(line, "=== ATTR  "); ok {
			_, rest, _ = strings.Cut(rest, " ") // the name of the test
			if k, value, _ := strings.Cut(rest, " "); k == key {
				values = append(values, value)
			}
		}
	}
	return values
}

// documents returns the values of an attribute that is in JSON.
func (r testOutput) documents(key string) []json.RawMessage {
	all := []json.RawMessage{}
	for _, text := range r.attributes(key) {
		all = append(all, json.RawMessage(text))
	}
	return all
}

// A storyResult is the result of a version in the bug's own story.
type storyResult struct {
	broken []string
	worlds string
	first  time.Duration
}

func (s storyResult) String() string {
	if len(s.broken) == 0 {
		return "passes"
	}
	return fmt.Sprintf("breaks %s in %s worlds", strings.Join(s.broken, " and "), s.worlds)
}

// runStory runs the subtest "story".
func (v *version) runStory() (storyResult, error) {
	var s storyResult
	r, err := v.run("/^story$")
	if err != nil {
		return s, err
	}
	worlds := r.attributes(proof.AttrWorlds)
	if unknown := r.attributes(proof.AttrUnknown); len(unknown) > 0 || len(worlds) != 1 {
		return s, fmt.Errorf("%s: the story is inconclusive:\n%s", v.Name, strings.Join(r, "\n"))
	}
	s.worlds = worlds[0]
	if broken := r.attributes(proof.AttrBroken); len(broken) == 1 && broken[0] != "" {
		s.broken = strings.Split(broken[0], ",")
		v.record.Broken = s.broken
	}
	v.record.Worlds = r.documents(proof.AttrWorldResult)
	if first := r.attributes(proof.AttrFirst); len(first) == 1 {
		s.first, err = time.ParseDuration(first[0])
	}
	return s, err
}

// A failure is a test case of the suite that fails a version.
type failure struct {
	story string
	// worlds is the number of worlds that the suite had run when it found the failure, and
	// after is the real time that this took.
	worlds int
	after  time.Duration
	rules  []string
}

// breaks reports whether the test case fails for something that the bug breaks.
func (f failure) breaks(properties []string) bool {
	return slices.ContainsFunc(f.rules, func(rule string) bool { return slices.Contains(properties, rule) })
}

// A survey is the result of a version in the whole suite.
type survey struct {
	failures []failure
	worlds   int
}

func (s survey) fails(story string) bool {
	return slices.ContainsFunc(s.failures, func(f failure) bool { return f.story == story })
}

// survey runs the subtest "survey".
func (v *version) survey() (survey, error) {
	var s survey
	r, err := v.run("/^survey$", proof.SurveyVariable+"=1")
	if err != nil {
		return s, err
	}
	v.record.Suite = r.documents(locktest.AttrFinding)
	for _, text := range r.attributes(proof.AttrFails) {
		words := strings.Fields(text)
		if len(words) != 4 {
			return s, fmt.Errorf("%s: the survey has an attribute that cannot be read: %q", v.Name, text)
		}
		f := failure{story: words[0], rules: strings.Split(words[3], ",")}
		var errs [2]error
		f.worlds, errs[0] = strconv.Atoi(words[1])
		f.after, errs[1] = time.ParseDuration(words[2])
		if err := errors.Join(errs[:]...); err != nil {
			return s, err
		}
		s.failures = append(s.failures, f)
	}
	all := r.attributes(proof.AttrSuite)
	if len(all) != 1 {
		return s, fmt.Errorf("%s: the survey did not finish:\n%s", v.Name, strings.Join(r, "\n"))
	}
	s.worlds, err = strconv.Atoi(all[0])
	return s, err
}

// failsIn runs one test case of the suite and reports whether it fails the version.
func (v *version) failsIn(story string) (bool, error) {
	pattern := "/^suite$"
	for part := range strings.SplitSeq(story, "/") {
		pattern += "/^" + regexp.QuoteMeta(part) + "$"
	}
	r, err := v.run(pattern)
	if err != nil {
		return false, err
	}
	v.record.Suite = r.documents(locktest.AttrFinding)
	for _, line := range r {
		line = strings.TrimSpace(line)
		for _, verdict := range []string{"FAIL", "PASS"} {
			name, ok := strings.CutPrefix(line, "--- "+verdict+": ")
			if name, _, _ := strings.Cut(name, " "); ok && strings.HasSuffix(name, "/suite/"+story) {
				return verdict == "FAIL", nil
			}
		}
	}
	return false, fmt.Errorf("%s: the suite has no test case %s any more:\n%s", v.Name, story, strings.Join(r, "\n"))
}
