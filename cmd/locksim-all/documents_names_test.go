package main

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/mutate"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
)

// Everything that a user can name on a command line or in a scenario is explained in the
// document in which a reader would look it up.
func TestDocumentsNameEverything(t *testing.T) {
	// checkNamed checks that a document names each of some things. what says what they are.
	checkNamed := func(file, what string, names ...string) {
		t.Helper()
		text := read(t, file)[0].text
		for _, name := range names {
			if !strings.Contains(text, "`"+name) {
				t.Errorf("%s does not name the %s %q", file, what, name)
			}
		}
	}
	for _, p := range checks.Properties() {
		checkNamed("docs/properties.md", "property", string(p)+"`")
	}
	for _, k := range sim.FaultKinds() {
		checkNamed("docs/scenarios.md", "fault", k.Name+": ")
	}
	for _, name := range locks.Names() {
		checkNamed("docs/scenarios.md", "lock", name+"`")
	}
	for _, name := range locks.TokenSourceNames() {
		checkNamed("docs/scenarios.md", "source of tokens", name+"`")
	}
	for _, p := range storage.Policies() {
		if p != storage.None { // no scenario can name it, because only the run without fencing uses it
			checkNamed("docs/scenarios.md", "storage policy", string(p)+"`")
		}
	}
	checkNamed("docs/scenarios.md", "measure", checks.MeasureNames()...)
	for _, o := range mutate.Operators() {
		checkNamed("docs/command.md", "mistake", o.Name+"`")
	}
	text := read(t, "docs/command.md")[0].text
	for _, command := range completions(t, "") {
		if !strings.Contains(text, "locksim "+command) {
			t.Errorf("docs/command.md does not name the command %q", command)
		}
		for _, flag := range completions(t, command, "--") {
			switch flag {
			case "--help", "--version":
			case "--output":
				checkNamed("docs/command.md", "flag", "-o")
			default:
				checkNamed("docs/command.md", "flag", flag)
			}
		}
	}
}

// completions returns the words that the shell offers after a command line.
func completions(t *testing.T, typed ...string) (words []string) {
	t.Helper()
	for line := range strings.Lines(runOutput(t, append([]string{"__complete"}, typed...)...)) {
		if word, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); !strings.HasPrefix(word, ":") {
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		t.Errorf("the shell offers nothing after locksim %s", strings.Join(typed, " "))
	}
	return words
}

// docs/scenarios.md names every field that a scenario can have.
func TestDocumentsNameEveryField(t *testing.T) {
	type object struct {
		Properties map[string]json.RawMessage `json:"properties"`
		OneOf      []struct {
			Properties map[string]json.RawMessage `json:"properties"`
		} `json:"oneOf"`
	}
	var schema struct {
		object
		Definitions map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(readSchema(t), &schema); err != nil {
		t.Fatal(err)
	}
	fields := maps.Clone(schema.Properties)
	for _, d := range schema.Definitions {
		maps.Copy(fields, d.Properties)
		for _, kind := range d.OneOf {
			maps.Copy(fields, kind.Properties)
		}
	}
	if len(fields) < 50 {
		t.Errorf("the schema has only %d fields, want at least 50", len(fields))
	}
	text := read(t, "docs/scenarios.md")[0].text
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !regexp.MustCompile("[`{ ]" + name + "[`:]").MatchString(text) {
			t.Errorf("docs/scenarios.md does not name the field %q", name)
		}
	}
}
