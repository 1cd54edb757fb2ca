package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// workflowFiles are the files that GitHub executes.
func workflowFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, pattern := range []string{"action.yml", "comment/action.yml", "../.github/workflows/*.yml"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("there is no file %s (%v)", pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = string(text)
		}
	}
	return files
}

// values calls yield with the value of each key in a file.
func values(n *yaml.Node, yield func(key string, value *yaml.Node)) {
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			yield(c.Value, n.Content[i+1])
			continue
		}
		values(c, yield) // the values of a mapping, too
	}
}

// words returns the texts in a value: it may be a text, a list or a mapping.
func words(n *yaml.Node) []string {
	all := []string{n.Value}
	for _, c := range n.Content {
		all = append(all, words(c)...)
	}
	return all
}

// flawsOf returns what is dangerous in a file: an expression in a script, which would make a
// text of a pull request a part of the script, and an action whose version can change.
func flawsOf(text string) (flaws []string) {
	var file yaml.Node
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		return []string{err.Error()}
	}
	values(&file, func(key string, value *yaml.Node) {
		switch {
		case key == "run" && strings.Contains(value.Value, "${{"):
			flaws = append(flaws, "a script contains an expression; give it the value in env: "+value.Value)
		case key == "uses" && value.Kind == yaml.ScalarNode && !strings.HasPrefix(value.Value, "./"):
			if !commitAction.MatchString(value.Value) || !versionComment.MatchString(value.LineComment) {
				flaws = append(flaws, "name the action by its commit, with its version in a comment: "+value.Value+" "+value.LineComment)
			}
		case key == "on" && slices.Contains(words(value), "pull_request_target"):
			flaws = append(flaws, "pull_request_target gives a token with rights to code of a pull request")
		}
	})
	return flaws
}

var (
	commitAction   = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)
	versionComment = regexp.MustCompile(`^# v\d+\.\d+\.\d+$`)
)

func TestWorkflowsAreSafe(t *testing.T) {
	for name, text := range workflowFiles(t) {
		for _, flaw := range flawsOf(text) {
			t.Errorf("%s: %s", name, flaw)
		}
	}
}

func TestFlawsAreFound(t *testing.T) {
	for _, text := range []string{
		"steps: [{run: 'echo ${{ github.head_ref }}'}]",
		"steps: [{run: \"x\\n${{ github.event.pull_request.title }}\"}]",
		"steps: [{uses: actions/checkout@v4}]",
		"steps:\n  - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1\n",
		"on: {pull_request_target: {}}",
		"on: pull_request_target",
		"on: [push, pull_request_target]",
		"a: [",
	} {
		if len(flawsOf(text)) != 1 {
			t.Errorf("%q has the flaws %q, want one", text, flawsOf(text))
		}
	}
	good := "steps:\n  - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1\n  - uses: ./action\n  - run: echo \"$TITLE\"\n    env: {TITLE: '${{ github.event.pull_request.title }}'}\n"
	if flaws := flawsOf(good); len(flaws) != 0 {
		t.Errorf("a safe file has the flaws %q", flaws)
	}
}

// The variables and inputs of an action are those that its scripts and the program read, and
// each input is used.
func TestActionsUseTheirInputs(t *testing.T) {
	for _, name := range []string{"action.yml", "comment/action.yml"} {
		text := workflowFiles(t)[name]
		var file struct {
			Inputs map[string]struct{ Description string }
			Runs   struct {
				Steps []struct{ Env map[string]string }
			}
		}
		if err := yaml.Unmarshal([]byte(text), &file); err != nil || len(file.Inputs) == 0 || len(file.Runs.Steps) == 0 {
			t.Fatalf("%s: %v, %d inputs", name, err, len(file.Inputs))
		}
		for input, i := range file.Inputs {
			if i.Description == "" || !strings.Contains(text, "${{ inputs."+input+" }}") {
				t.Errorf("%s: the input %s is not described, or not used", name, input)
			}
		}
		for _, used := range regexp.MustCompile(`inputs\.([\w-]+)`).FindAllStringSubmatch(text, -1) {
			if _, ok := file.Inputs[used[1]]; !ok {
				t.Errorf("%s: there is no input %s", name, used[1])
			}
		}
		program := ""
		for _, source := range []string{"settings.go", "comment.go"} {
			data, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			program += string(data)
		}
		for variable := range file.Runs.Steps[0].Env {
			if !strings.Contains(program, `"`+variable+`"`) && !strings.Contains(text, `"$`+variable+`"`) && variable != "GH_TOKEN" {
				t.Errorf("%s: nothing reads %s", name, variable)
			}
		}
	}
}

// The forms of issues about a run ask for the command that repeats it.
func TestIssueFormsAskForTheReplay(t *testing.T) {
	forms, err := filepath.Glob("../.github/ISSUE_TEMPLATE/*.yml")
	if err != nil || len(forms) < 3 {
		t.Fatalf("only %d forms (%v)", len(forms), err)
	}
	required := false
	for _, name := range forms {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var form struct {
			Name, Description string
			Body              []struct {
				Type, ID    string
				Attributes  struct{ Label string }
				Validations struct{ Required bool }
			}
		}
		if err := yaml.Unmarshal(data, &form); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if filepath.Base(name) == "config.yml" {
			continue
		}
		if form.Name == "" || form.Description == "" || len(form.Body) == 0 {
			t.Errorf("%s has no name, description or body", name)
		}
		for _, b := range form.Body {
			required = required || b.ID == "replay" && b.Validations.Required
			if b.Attributes.Label == "" {
				t.Errorf("%s: an element has no label", name)
			}
		}
	}
	if !required {
		t.Error("no form requires the replay line")
	}
}
