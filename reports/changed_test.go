package reports

import (
	"bytes"
	"strings"
	"testing"

	"github.com/locksim/locksim/scenarios"
)

// runChanged runs a built-in scenario with another lock, or with overrides.
func runChanged(t *testing.T, name, lock string, overrides ...string) *scenarios.Result {
	t.Helper()
	s, err := scenarios.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = s.With(overrides...); err != nil {
		t.Fatal(err)
	}
	r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1, Lock: lock})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Reports and pictures that can be seen alone name another lock, and what was changed.
func TestTitlesOfChangedRuns(t *testing.T) {
	for _, c := range []struct {
		lock, override, want string
	}{
		{"", "", ""},
		{"single", "", ", with the lock single"},
		{"", "lock.ttl=20s", ", with lock.ttl=20s"},
		{"single", "lock.ttl=20s", ", with the lock single and lock.ttl=20s"},
	} {
		var overrides []string
		if c.override != "" {
			overrides = append(overrides, c.override)
		}
		r := runChanged(t, "gc-pause", c.lock, overrides...)
		if got, want := storyboardOf(r, r.Runs).Title, "A garbage-collection pause outlasts the lock"+c.want; got != want {
			t.Errorf("the storyboard is called %q, want %q", got, want)
		}
		if page := scenarioPage(r, Options{}, nil); !strings.Contains(string(page.Title), "outlasts the lock"+c.want) {
			t.Errorf("the page is called %q, want %q in it", page.Title, c.want)
		}
		for format, write := range map[string]func(*bytes.Buffer) error{
			"text":     func(b *bytes.Buffer) error { return writeText(b, []*scenarios.Result{r}, Options{}) },
			"markdown": func(b *bytes.Buffer) error { return writeRunMarkdown(b, []*scenarios.Result{r}, Options{}) },
		} {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			text := strings.Join(strings.Fields(b.String()), " ")
			if c.lock != "" && !strings.Contains(text, "outlasts the lock, with the lock single") && !strings.Contains(text, "outlasts the lock (changed), with the lock single") {
				t.Errorf("%s names no lock in its title:\n%s", format, b.String())
			}
			if got := strings.Contains(text, "(changed)"); got != (c.override != "") {
				t.Errorf("%s with %q says that it is changed: %v", format, c.override, got)
			}
		}
	}
}

// A run with a lock for which the scenario is not written gets neither its lesson nor what
// would have prevented the failure. One for which it is written gets both.
func TestWordsOfAnotherLock(t *testing.T) {
	for lock, want := range map[string]bool{"": true, "single-token": false} {
		var b bytes.Buffer
		if err := explainText(&b, []*scenarios.Result{runChanged(t, "gc-pause", lock)}, Options{}); err != nil {
			t.Fatal(err)
		}
		for _, title := range []string{"The lesson", "What would have prevented it"} {
			if got := strings.Contains(b.String(), title); got != want {
				t.Errorf("with the lock %q there is a chapter %q: %v, want %v", lock, title, got, want)
			}
		}
	}
}

// A changed row names the assumption that its run broke.
func TestAssumptionOfChangedRow(t *testing.T) {
	for _, c := range []struct{ lock, override, want string }{
		{"redlock", "lock.ttl=20s", "process"},
		{"redlock", "faults[1]=null", "none"},
		{"redlock", "faults[2]={jump: redis-1, by: 1s, at: 1s}", "clock, process"},
		{"single-token", "", "process"},
	} {
		var overrides []string
		if c.override != "" {
			overrides = append(overrides, c.override)
		}
		r := runChanged(t, "gc-pause", c.lock, overrides...)
		row := Row{Scenario: r.Scenario, Variant: r.Scenario.Variants[0], Cells: []Cell{{Lock: c.lock, Runs: r.Runs}}}
		if got := row.assumption(); got != c.want {
			t.Errorf("%s %s: the assumption is %q, want %q", c.lock, c.override, got, c.want)
		}
		var b bytes.Buffer
		if err := writeMatrixJSON(&b, &Matrix{Rows: []Row{row}}, Options{}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), `"overrides"`); got != (c.override != "") {
			t.Errorf("%s: the JSON has overrides: %v", c.override, got)
		}
	}
}
