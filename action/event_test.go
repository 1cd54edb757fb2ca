package main

import (
	"path/filepath"
	"strings"
	"testing"
)

const (
	headSHA = "1111111111111111111111111111111111111111"
	baseSHA = "2222222222222222222222222222222222222222"
)

// openEvent reads an event of testdata/events. The file's name begins with the name of the
// event.
func openEvent(t *testing.T, file string) *event {
	t.Helper()
	name, _, _ := strings.Cut(file, "_of_")
	e, err := readEvent(name, filepath.Join("testdata", "events", file+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestBaseCommit(t *testing.T) {
	const other = "3333333333333333333333333333333333333333"
	for _, test := range []struct {
		event   string
		parents []string
		want    string
		why     string
	}{
		{event: "pull_request", parents: []string{other}, want: baseSHA},
		{event: "pull_request", parents: []string{other, headSHA}, want: other}, // the merge, whose base is newer
		{event: "pull_request", parents: []string{headSHA, other}, want: baseSHA},
		{event: "pull_request", parents: []string{"$(id)", headSHA}, why: "no commit"},
		{event: "pull_request_of_fork", want: baseSHA},
		{event: "pull_request_of_deleted_fork", want: baseSHA},
		{event: "push", want: baseSHA},
		{event: "push_of_new_branch", why: "new"},
		{event: "schedule", why: "schedule has no base"},
	} {
		base, why := openEvent(t, test.event).baseCommit(test.parents)
		if base != test.want || (why == "") != (test.why == "") || !strings.Contains(why, test.why) {
			t.Errorf("%s, parents %q: base %q, why %q; want %q, %q", test.event, test.parents, base, why, test.want, test.why)
		}
	}
}

// A branch that looks like an option or a revision is no commit.
func TestBaseIsACommit(t *testing.T) {
	for _, before := range []string{"", "--upload-pack=touch pwned", "HEAD", "main", headSHA[1:], headSHA + "\n", strings.ToUpper("abcdef") + headSHA[6:]} {
		e := &event{Name: "push", Before: before}
		if base, why := e.baseCommit(nil); base != "" || why == "" {
			t.Errorf("%q: the base is %q", before, base)
		}
	}
}

func TestReadEventRefuses(t *testing.T) {
	file := filepath.Join("testdata", "events", "pull_request.json")
	for _, test := range []struct{ name, file, want string }{
		{"pull_request_target", file, "use the event pull_request"},
		{"push", "testdata/events/none.json", "GITHUB_EVENT_PATH"},
		{"push", "event.go", "not the file of an event"},
	} {
		if _, err := readEvent(test.name, test.file); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %s: %v, want %q", test.name, test.file, err, test.want)
		}
	}
}

func TestReadSettings(t *testing.T) {
	given := map[string]string{
		"GITHUB_WORKSPACE": "/w", "RUNNER_TEMP": "/t",
		"LOCKSIM_COMMAND": "go run ./cmd/mine", "LOCKSIM_RUN": "a.yaml --lock redlock\n\n  $(id)  \n", "LOCKSIM_TEST": "./...",
	}
	env := func(name string) string { return given[name] }
	s, err := readSettings(env)
	if err != nil || len(s.Locksim) != 3 || len(s.Run) != 2 || s.Run[1][0] != "$(id)" || len(s.Test) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, wrong := range [][2]string{{"LOCKSIM_FOLDER", "../x"}, {"LOCKSIM_FOLDER", "/"}, {"LOCKSIM_FAIL_ON", "sometimes"}, {"LOCKSIM_COMMAND", " "}, {"RUNNER_TEMP", ""}} {
		before := given[wrong[0]]
		given[wrong[0]] = wrong[1]
		if _, err := readSettings(env); err == nil {
			t.Errorf("%s=%q is accepted", wrong[0], wrong[1])
		}
		given[wrong[0]] = before
	}
	if _, err := readSettings(func(name string) string {
		return map[string]string{"GITHUB_WORKSPACE": "/w", "RUNNER_TEMP": "/t"}[name]
	}); err == nil {
		t.Error("nothing to run is accepted")
	}
}

func TestLastLine(t *testing.T) {
	for text, want := range map[string]string{
		"":           "",
		"one\ntwo\n": "two",
		"locksim: nothing there\nexit status 2\n": "locksim: nothing there",
		"exit status 2":       "",
		"exit status 2\nlast": "last",
	} {
		if got := lastLine(text); got != want {
			t.Errorf("the last line of %q is %q, want %q", text, got, want)
		}
	}
}
