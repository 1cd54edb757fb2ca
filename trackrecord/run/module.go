package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/trackrecord"
)

// A module tests one version of a library.
type module struct {
	dir, name string
	// library is the module under test, and version the one that is tested.
	library, version string
	binary           string
	record           record
}

// A record is what a version comes to, for programs: one line of JSON.
type record struct {
	Bug     string `json:"bug"`
	Module  string `json:"module"`
	Library string `json:"library"`
	Version string `json:"version"`
	// Broken are the rules that it breaks in its story, and Told each world of it, a
	// [trackrecord.Told].
	Broken []string          `json:"broken"`
	Told   []json.RawMessage `json:"told"`
	// Suite is what fails it of the stories of the suite that were told, each a
	// [locktest.Finding].
	Suite []json.RawMessage `json:"suite"`
}

// mark is the comment in a go.mod behind the library that the module tests.
const mark = "// under test"

// readModule finds out what a module tests.
func readModule(dir string) (*module, error) {
	m := &module{dir: dir, name: filepath.Base(dir)}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(mod)) {
		if pin, marked := strings.CutSuffix(strings.TrimSpace(line), mark); marked {
			m.library = strings.Fields(strings.TrimPrefix(pin, "require "))[0]
		}
	}
	if m.library == "" {
		return nil, fmt.Errorf("%s/go.mod does not say which library it tests; write %q behind it", dir, mark)
	}
	out, err := m.goCommand("list", "-m", "-f", "{{with .Replace}}{{.Version}}{{else}}{{.Version}}{{end}}", m.library)
	m.version = strings.TrimSpace(out)
	m.record = record{
		Bug: filepath.Base(filepath.Dir(dir)), Module: m.name, Library: m.library, Version: m.version,
		Broken: []string{}, Told: []json.RawMessage{}, Suite: []json.RawMessage{},
	}
	return m, err
}

// title is the version, and what else sets the module apart.
func (m *module) title() string {
	switch {
	case m.name == "bad", m.name == "fixed", strings.HasSuffix(m.name, m.version):
		return m.version
	}
	return m.version + " " + m.name
}

// test is the code of the module's test.
func (m *module) test() (string, error) {
	files, err := filepath.Glob(filepath.Join(m.dir, "*_test.go"))
	if err != nil {
		return "", err
	}
	var all []byte
	for _, f := range files {
		code, err := os.ReadFile(f)
		if err != nil {
			return "", err
		}
		all = append(all, code...)
	}
	return string(all), nil
}

// goCommand runs the go command in the module's folder.
func (m *module) goCommand(args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = m.dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("in %s: go %s: %w\n%s", m.dir, strings.Join(args, " "), err, &stderr)
	}
	return string(out), nil
}

// build compiles the module's test.
func (m *module) build(bins string) error {
	m.binary = filepath.Join(bins, filepath.Base(filepath.Dir(m.dir))+"-"+m.name+".test")
	_, err := m.goCommand("test", "-c", "-overlay", filepath.Join("..", "..", "overlay.json"), "-o", m.binary, ".")
	return err
}

// A result is what a test printed, line by line.
type result []string

// run runs the subtests that a pattern selects, in the module's folder.
func (m *module) run(pattern string, env ...string) (result, error) {
	cmd := exec.Command(m.binary, "-test.v", "-test.run="+pattern)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return nil, fmt.Errorf("%s: %w\n%s", m.name, err, out)
	}
	return strings.Split(string(out), "\n"), nil
}

// attributes are the values that a test has given an attribute.
func (r result) attributes(key string) []string {
	var values []string
	for _, line := range r {
		if rest, ok := strings.CutPrefix(line, "=== ATTR  "); ok {
			_, rest, _ = strings.Cut(rest, " ") // the test
			if k, value, _ := strings.Cut(rest, " "); k == key {
				values = append(values, value)
			}
		}
	}
	return values
}

// documents are the values that a test has given an attribute that holds JSON.
func (r result) documents(key string) []json.RawMessage {
	all := []json.RawMessage{}
	for _, text := range r.attributes(key) {
		all = append(all, json.RawMessage(text))
	}
	return all
}

// A telling is what the bug's own story says of a version.
type telling struct {
	broken []string
	worlds string
	first  time.Duration
}

func (s telling) String() string {
	if len(s.broken) == 0 {
		return "passes"
	}
	return fmt.Sprintf("breaks %s in %s worlds", strings.Join(s.broken, " and "), s.worlds)
}

// tellStory runs the subtest "story".
func (m *module) tellStory() (telling, error) {
	var s telling
	r, err := m.run("/^story$")
	if err != nil {
		return s, err
	}
	worlds := r.attributes(trackrecord.AttrWorlds)
	if unknown := r.attributes(trackrecord.AttrUnknown); len(unknown) > 0 || len(worlds) != 1 {
		return s, fmt.Errorf("%s: the story proves nothing:\n%s", m.name, strings.Join(r, "\n"))
	}
	s.worlds = worlds[0]
	if broken := r.attributes(trackrecord.AttrBroken); len(broken) == 1 && broken[0] != "" {
		s.broken = strings.Split(broken[0], ",")
		m.record.Broken = s.broken
	}
	m.record.Told = r.documents(trackrecord.AttrTold)
	if first := r.attributes(trackrecord.AttrFirst); len(first) == 1 {
		s.first, err = time.ParseDuration(first[0])
	}
	return s, err
}

// A failure is a story of the suite that fails a version.
type failure struct {
	story string
	// worlds and after say when the suite had found it.
	worlds int
	after  time.Duration
	rules  []string
}

// breaks reports whether it fails for something that the bug breaks.
func (f failure) breaks(properties []string) bool {
	return slices.ContainsFunc(f.rules, func(rule string) bool { return slices.Contains(properties, rule) })
}

// A survey is what the whole suite says of a version.
type survey struct {
	failures []failure
	worlds   int
}

func (s survey) fails(story string) bool {
	return slices.ContainsFunc(s.failures, func(f failure) bool { return f.story == story })
}

// survey runs the subtest "survey".
func (m *module) survey() (survey, error) {
	var s survey
	r, err := m.run("/^survey$", trackrecord.SurveyVariable+"=1")
	if err != nil {
		return s, err
	}
	m.record.Suite = r.documents(locktest.AttrFinding)
	for _, text := range r.attributes(trackrecord.AttrFails) {
		words := strings.Fields(text)
		if len(words) != 4 {
			return s, fmt.Errorf("%s: the survey talks nonsense: %q", m.name, text)
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
	all := r.attributes(trackrecord.AttrSuite)
	if len(all) != 1 {
		return s, fmt.Errorf("%s: the survey did not come to its end:\n%s", m.name, strings.Join(r, "\n"))
	}
	s.worlds, err = strconv.Atoi(all[0])
	return s, err
}

// failsIn runs one story of the suite and reports whether the version fails in it.
func (m *module) failsIn(story string) (bool, error) {
	pattern := "/^suite$"
	for part := range strings.SplitSeq(story, "/") {
		pattern += "/^" + regexp.QuoteMeta(part) + "$"
	}
	r, err := m.run(pattern)
	if err != nil {
		return false, err
	}
	m.record.Suite = r.documents(locktest.AttrFinding)
	for _, line := range r {
		line = strings.TrimSpace(line)
		for _, verdict := range []string{"FAIL", "PASS"} {
			name, ok := strings.CutPrefix(line, "--- "+verdict+": ")
			if name, _, _ := strings.Cut(name, " "); ok && strings.HasSuffix(name, "/suite/"+story) {
				return verdict == "FAIL", nil
			}
		}
	}
	return false, fmt.Errorf("%s: the suite does not tell %s any more:\n%s", m.name, story, strings.Join(r, "\n"))
}
