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

// A version is a version of a library under test, and what the tests have found.
type version struct {
	proof.Version
	bug     proof.Bug
	builder *builder
	record  record
}

// A record is what the tests of a version have found, as one line of JSON.
type record struct {
	Bug string `json:"bug"`
	// Module is the name that versions.json gives to the version, such as "bad".
	Module  string `json:"module"`
	Library string `json:"library"`
	Version string `json:"version"`
	// Broken are the rules that the version breaks in the story. Worlds has a
	// [proof.WorldResult] for each world of the story.
	Broken []string          `json:"broken"`
	Worlds []json.RawMessage `json:"told"`
	// Suite has a [locktest.Finding] for each test case of the suite that was run and
	// failed.
	Suite []json.RawMessage `json:"suite"`
}

func newVersion(b proof.Bug, v proof.Version, tests *builder) *version {
	return &version{Version: v, bug: b, builder: tests, record: record{
		Bug: b.Name, Module: v.Name, Library: b.Library, Version: v.Number,
		Broken: []string{}, Worlds: []json.RawMessage{}, Suite: []json.RawMessage{},
	}}
}

// title returns the version's number, and its name if the name says more than the number.
func (v *version) title() string {
	switch {
	case v.Name == "bad", v.Name == "fixed", strings.HasSuffix(v.Name, v.Number):
		return v.Number
	}
	return v.Number + " " + v.Name
}

// binary returns the path of the compiled test. Several bugs can share a version, and so its
// compiled test.
func (v *version) binary() string {
	return v.builder.scratchFile(v, "-"+strings.ReplaceAll(v.bug.Test, "/", "-")+".test")
}

// build compiles the test with the version, unless that was done before.
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

// environment returns the setting of the environment variable that tells the test its bug
// and its version.
func (v *version) environment() string {
	return proof.BugVariable + "=" + v.bug.Name + "/" + v.Name
}

// test runs go test with the version, and shows its output.
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

// run runs the compiled test. pattern selects subtests, as go test -run does.
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

// attributes returns the values that the test has written for the attribute key.
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

// documents returns the values of the attribute key. They must be JSON.
func (r testOutput) documents(key string) []json.RawMessage {
	all := []json.RawMessage{}
	for _, text := range r.attributes(key) {
		all = append(all, json.RawMessage(text))
	}
	return all
}

// A storyResult is what the bug's story shows with a version: the rules that the version
// breaks, in how many worlds it breaks one, and the real time of the first such world.
type storyResult struct {
	broken    []string
	worlds    string
	firstTime time.Duration
}

func (s storyResult) String() string {
	if len(s.broken) == 0 {
		return "passes"
	}
	return fmt.Sprintf("breaks %s in %s worlds", strings.Join(s.broken, " and "), s.worlds)
}

// runStory runs the subtest "story", which runs the bug's story in many worlds.
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
		s.firstTime, err = time.ParseDuration(first[0])
	}
	return s, err
}

// A failure is a test case of the suite that a version fails.
type failure struct {
	story string
	// worlds is how many worlds the suite had run when it found the failure; after is the real time
	// that had passed by then.
	worlds int
	after  time.Duration
	rules  []string
}

// breaks reports whether the version fails the test case because of one of the properties
// that the bug breaks.
func (f failure) breaks(properties []string) bool {
	return slices.ContainsFunc(f.rules, func(rule string) bool { return slices.Contains(properties, rule) })
}

// A survey is what the whole suite finds in a version.
type survey struct {
	failures []failure
	worlds   int
}

// fails reports whether the version fails a test case.
func (s survey) fails(story string) bool {
	return slices.ContainsFunc(s.failures, func(f failure) bool { return f.story == story })
}

// survey runs the subtest "survey", which runs the whole suite.
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

// failsIn runs one test case of the suite, and reports whether the version fails it.
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
