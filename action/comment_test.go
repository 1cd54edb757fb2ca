package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// github is a server with the part of GitHub's API that comment uses.
type github struct {
	comments []string // as JSON
	pulls    string
	requests []string
	body     string
}

func (g *github) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.requests = append(g.requests, r.Method+" "+strings.TrimPrefix(r.URL.RequestURI(), "/repos/octo/locks/"))
	if r.Header.Get("Authorization") != "Bearer token" {
		http.Error(w, "", http.StatusForbidden)
		return
	}
	switch {
	case r.Method != http.MethodGet:
		var in struct{ Body string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		g.body = in.Body
		fmt.Fprint(w, "{}")
	case strings.Contains(r.URL.Path, "/pulls"):
		fmt.Fprint(w, g.pulls)
	case r.URL.Query().Get("page") == "1" && len(g.comments) > 100:
		fmt.Fprintf(w, "[%s]", strings.Join(g.comments[:100], ","))
	case r.URL.Query().Get("page") == "2":
		fmt.Fprintf(w, "[%s]", strings.Join(g.comments[100:], ","))
	default:
		fmt.Fprintf(w, "[%s]", strings.Join(g.comments, ","))
	}
}

const (
	ours    = `{"id": 5, "body": "<!-- locksim: locks -->\nold", "user": {"login": "github-actions[bot]"}}`
	forged  = `{"id": 6, "body": "<!-- locksim: locks -->\nold", "user": {"login": "mallory"}}`
	another = `{"id": 8, "body": "<!-- locksim: others -->\nold", "user": {"login": "github-actions[bot]"}}`
)

func TestComment(t *testing.T) {
	list := "GET issues/7/comments?per_page=100&page="
	byBranch := "GET pulls?head=mallory%3A%24%28touch%24%7BIFS%7Dpwned%29%3B%60touch+pwned%60%22%27%24%7B%7B+secrets.X+%7D%7D&per_page=100&state=open"
	for _, test := range []struct {
		what, event string
		same        bool
		comments    []string
		pulls       string
		want        []string
	}{
		{what: "the first comment", event: "pull_request", want: []string{list + "1", "POST issues/7/comments"}},
		{what: "an earlier one is replaced", event: "pull_request", comments: []string{forged, another, ours}, want: []string{list + "1", "PATCH issues/comments/5"}},
		{what: "another's comment is left alone", event: "pull_request", comments: []string{forged, another}, want: []string{list + "1", "POST issues/7/comments"}},
		{what: "after a hundred others", event: "pull_request", comments: append(slices.Repeat([]string{forged}, 100), ours), want: []string{list + "1", list + "2", "PATCH issues/comments/5"}},
		{what: "nothing changed", event: "pull_request", same: true, want: []string{list + "1"}},
		{what: "nothing changed any more", event: "pull_request", same: true, comments: []string{ours}, want: []string{list + "1", "PATCH issues/comments/5"}},
		{what: "a fork's token must not write", event: "pull_request_of_fork"},
		{what: "a deleted fork", event: "pull_request_of_deleted_fork"},
		{what: "after the run", event: "workflow_run", want: []string{list + "1", "POST issues/7/comments"}},
		{what: "after a run of an older commit", event: "workflow_run_of_older_commit", pulls: `[{"number": 7, "head": {"sha": "` + baseSHA + `"}}]`, want: []string{strings.Replace(byBranch, "mallory", "octo", 1)}},
		{what: "after a fork's run", event: "workflow_run_of_fork", pulls: `[{"number": 3, "head": {"sha": "` + baseSHA + `"}}, {"number": 7, "head": {"sha": "` + headSHA + `"}}]`, want: []string{byBranch, list + "1", "POST issues/7/comments"}},
		{what: "a fork that has pushed again", event: "workflow_run_of_fork", pulls: `[{"number": 7, "head": {"sha": "` + baseSHA + `"}}]`, want: []string{byBranch}},
		{what: "a run of a push", event: "workflow_run_of_push"},
		{what: "a push", event: "push"},
	} {
		t.Run(test.what, func(t *testing.T) {
			g := &github{comments: test.comments, pulls: test.pulls}
			server := httptest.NewServer(g)
			defer server.Close()
			d := &document{Schema: changesSchema, Parts: []part{{Command: "locksim run x"}}}
			if !test.same {
				d.Parts[0].New = []change{{"x with single", "violates progress", "locksim run x"}}
			}
			if err := comment(t.Context(), openEvent(t, test.event), commentEnv(t, server.URL, d)); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(g.requests, test.want) {
				t.Errorf("requests\n  %s\nwant\n  %s", strings.Join(g.requests, "\n  "), strings.Join(test.want, "\n  "))
			}
			if g.body != "" && (!strings.HasPrefix(g.body, "<!-- locksim: locks -->\n### locksim: ") || !strings.Contains(g.body, headSHA)) {
				t.Errorf("the comment is\n%s", g.body)
			}
		})
	}
}

// commentEnv returns the environment of the subcommand comment.
func commentEnv(t *testing.T, api string, d *document) func(string) string {
	file := filepath.Join(t.TempDir(), changesFile)
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o666); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"GITHUB_API_URL": api, "GITHUB_REPOSITORY": "octo/locks", "GITHUB_TOKEN": "token", "LOCKSIM_NAME": "locks", "LOCKSIM_CHANGES": file}
	return func(name string) string { return env[name] }
}

func TestCommentRefuses(t *testing.T) {
	server := httptest.NewServer(&github{})
	defer server.Close()
	good := commentEnv(t, server.URL, &document{Schema: changesSchema})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(good("LOCKSIM_CHANGES"), link); err != nil {
		t.Skip(err)
	}
	for name, value := range map[string]string{
		"GITHUB_TOKEN":      "wrong",
		"GITHUB_REPOSITORY": "octo/locks/../../x",
		"GITHUB_API_URL":    "",
		"LOCKSIM_NAME":      "--> <script>",
		"LOCKSIM_CHANGES":   link,
	} {
		env := func(n string) string {
			if n == name {
				return value
			}
			return good(n)
		}
		if err := comment(t.Context(), openEvent(t, "pull_request"), env); err == nil {
			t.Errorf("%s=%q is accepted", name, value)
		}
	}
}
