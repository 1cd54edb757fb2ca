package scenarios_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/scenarios"
)

const overridable = `
title: two clients
lock: {kind: redlock, ttl: 10s}
clients:
  client-1: {works: 1s}
  client-2: {starts: client-1's keys expired}
faults:
  - {pause: client-1, before: client-1 write, until: client-2 released}
witnesses: [client-2 released]
expect:
  off: {verdict: unsafe, violated: [no-lost-update]}
lesson: a lesson about the file
`

func parseScenario(t *testing.T, text string) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Parse("file.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A scenario with overrides has the same world as a file into which they were written by
// hand.
func TestOverride(t *testing.T) {
	for name, c := range map[string]struct {
		sets     []string
		old, new string // what is written by hand
	}{
		"a value":                      {[]string{"lock.ttl=20s"}, "ttl: 10s", "ttl: 20s"},
		"a value that was not there":   {[]string{"lock.nodes=3"}, "ttl: 10s", "ttl: 10s, nodes: 3"},
		"a mapping that was not there": {[]string{"storage.fencing=per-shard"}, "faults:", "storage: {fencing: per-shard}\nfaults:"},
		"a list":                       {[]string{"clients.client-1={does: [read x, write x]}"}, "works: 1s", "does: [read x, write x]"},
		"for in place of until":        {[]string{"faults[1].for=20s"}, "until: client-2 released", "for: 20s"},
		"at in place of before":        {[]string{"faults[1].at=5s"}, "before: client-1 write", "at: 5s"},
		"an item that was not there":   {[]string{"faults[2]={crash: redis-1, at: 3s}"}, "witnesses", "  - {crash: redis-1, at: 3s}\nwitnesses"},
		"no value any more":            {[]string{"clients.client-1.works=null"}, "works: 1s", ""},
		"no item any more":             {[]string{"faults[1]=null"}, "- {pause: client-1, before: client-1 write, until: client-2 released}", "[]"},
		"the last override counts":     {[]string{"lock.ttl=15s", "lock.ttl=20s"}, "ttl: 10s", "ttl: 20s"},
		"a whole mapping":              {[]string{"lock={kind: single, ttl: 20s}"}, "{kind: redlock, ttl: 10s}", "{kind: single, ttl: 20s}"},
	} {
		t.Run(name, func(t *testing.T) {
			s := parseScenario(t, overridable)
			before := string(s.Variants[0].Document().Bytes())
			changed, err := s.With(c.sets...)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(overridable, c.old) {
				t.Fatalf("the file does not contain %q", c.old)
			}
			byHand := strings.Replace(overridable, c.old, c.new, 1)
			for _, fencing := range []string{scenarios.Off, scenarios.On} {
				is, err := changed.Variants[0].Config(scenarios.Options{Seed: 1, Fencing: fencing})
				if err != nil {
					t.Fatal(err)
				}
				want, err := parseScenario(t, byHand).Variants[0].Config(scenarios.Options{Seed: 1, Fencing: fencing})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(is.Overrides, c.sets) {
					t.Errorf("the world says that %v was changed, want %v", is.Overrides, c.sets)
				}
				want.Name, is.Overrides, is.Unscripted = is.Name, nil, false
				if got, by := hashOfConfig(t, is), hashOfConfig(t, want); got != by {
					t.Errorf("fencing %s: the overrides give another world than the file in which they were written", fencing)
				}
			}
			if after := string(s.Variants[0].Document().Bytes()); after != before {
				t.Errorf("the scenario itself was changed:\n%s", after)
			}
		})
	}
}

// The document of a changed scenario is a file with the same world, which is judged in the
// same way: it has neither witnesses nor expectations, and need not follow the story.
func TestDocumentOfOverriddenScenario(t *testing.T) {
	for _, name := range []string{"gc-pause", "clock-jump", "crash-restart", "delayed-write", "retry-jitter"} {
		s, err := scenarios.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		changed, err := s.With("horizon=4m", "lock.ttl=31s")
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range changed.Variants {
			written := parseScenario(t, string(v.Document().Bytes())).Variants[0]
			for _, fencing := range []string{scenarios.Off, scenarios.On} {
				is, err := written.Config(scenarios.Options{Seed: 1, Fencing: fencing})
				if err != nil {
					t.Fatal(err)
				}
				want, err := v.Config(scenarios.Options{Seed: 1, Fencing: fencing})
				if err != nil {
					t.Fatal(err)
				}
				is.Name, is.Variant, want.Overrides = want.Name, want.Variant, nil
				if hashOfConfig(t, is) != hashOfConfig(t, want) {
					t.Errorf("%s, variant %q, fencing %s: the document gives another world", name, v.Name, fencing)
				}
				if _, ok := written.Expectation("", fencing); ok || len(written.Witnesses) > 0 || !is.Unscripted {
					t.Errorf("%s, variant %q, fencing %s: the document has expectations or witnesses, or is scripted", name, v.Name, fencing)
				}
			}
		}
	}
}

// What an author wrote about a scenario does not apply to a changed one.
func TestOverriddenScenarioExpectsNothing(t *testing.T) {
	s := parseScenario(t, overridable)
	result := func(s *scenarios.Scenario) *scenarios.Result {
		r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, set := range []string{"lock.ttl=30s", "faults[1].for=5s"} {
		changed, err := s.With(set)
		if err != nil {
			t.Fatal(err)
		}
		r := result(changed)
		if v := changed.Variants[0]; r.AsExpected != nil || len(r.Runs[0].Witnesses()) > 0 || v.Lesson != "" {
			t.Errorf("%s: as expected %v, witnesses %v, lesson %q; want none of them", set, r.AsExpected, r.Runs[0].Witnesses(), v.Lesson)
		}
	}
	if r := result(s); r.AsExpected == nil || len(r.Runs[0].Witnesses()) == 0 {
		t.Error("the file itself has neither expectations nor witnesses")
	}
}

// If a change makes a story impossible, the run says what happened instead. The same file
// without the override leaves the verdict unknown, and runs until the horizon.
func TestOverriddenRunIsJudgedByWhatHappened(t *testing.T) {
	s := parseScenario(t, overridable)
	changed, err := s.With("faults[1].for=5s")
	if err != nil {
		t.Fatal(err)
	}
	r, err := scenarios.Run(changed, scenarios.RunOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range r.Runs {
		tr := run.History.Trace
		if want := []string{"client-2 never began: it starts when client-1's keys expired"}; run.Verdict.Verdict != "safe" || !slices.Equal(tr.Deviations, want) || len(tr.Doubts) > 0 {
			t.Errorf("fencing %s: %s, deviations %q, doubts %q; want safe, and %q", run.Fencing, run.Verdict.Verdict, tr.Deviations, tr.Doubts, want)
		}
		if last := tr.Events[len(tr.Events)-1].At; last.Seconds() > 11 {
			t.Errorf("fencing %s: the run ends at %v, although nothing can happen once the TTL is over", run.Fencing, last)
		}
	}
	byHand := parseScenario(t, strings.Replace(overridable, "until: client-2 released", "for: 5s", 1))
	r, err = scenarios.Run(byHand, scenarios.RunOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if v := r.Runs[0].Verdict; v.Verdict != "unknown" {
		t.Errorf("the same file, written by hand, is %s, want unknown", v.Verdict)
	}
}

// Each error names the override, not the file, unless the contradiction is in the file.
func TestBadOverride(t *testing.T) {
	for set, want := range map[string]string{
		"lock.tll=3s":                         `--set lock.tll=3s: there is no such field; did you mean "lock.ttl"?`,
		"lock.TTL=3s":                         `--set lock.TTL=3s: there is no such field; did you mean "lock.ttl"?`,
		"faults[1].For=3s":                    `--set faults[1].For=3s: there is no such field; did you mean "faults[1].for"?`,
		"faults[1].fro=3s":                    `--set faults[1].fro=3s: there is no such field; did you mean "faults[1].for"?`,
		"Faults[1].for=3s":                    `--set Faults[1].for=3s: there is no such field; did you mean "faults[1].for"?`,
		"fault[1].for=3s":                     `--set fault[1].for=3s: there is no such field; did you mean "faults[1].for"?`,
		"lock.ttl=0":                          `--set lock.ttl=0: "0" has no unit; write a number and a unit, as in "500ms"`,
		"lock.ttl=20":                         `--set lock.ttl=20: "20" has no unit; did you mean "20s"?`,
		"lock.ttl=":                           `--set lock.ttl=: there is no value; write it after the equals sign; null removes what is there`,
		"lock.kind=redlok":                    `--set lock.kind=redlok: "redlok" is not known here; did you mean "redlock"?`,
		"lock.ttl.x=1":                        `--set lock.ttl.x=1: lock.ttl is the text "10s", and has no field "x"`,
		"lock[1]=x":                           `--set lock[1]=x: lock is a mapping, and no list`,
		"faults.for=3s":                       `--set faults.for=3s: faults is a list, and has no field "for"; its items are counted from 1, as in faults[1]`,
		"faults[3].for=2s":                    `--set faults[3].for=2s: there is no faults[3], because the list has 1; to add an item, set faults[2] to a whole item`,
		"faults[2].for=2s":                    `--set faults[2].for=2s: there is no faults[2], because the list has 1; to add an item, set faults[2] to a whole item`,
		"faults[1].before=client-1 wirte":     `--set faults[1].before=client-1 wirte: "client-1 wirte" is not a step; did you mean "client-1 write"?`,
		"faults[1].until=client-3 released":   `--set faults[1].until=client-3 released: no client is called "client-3"; did you mean "client-1"?`,
		"faults[1].crash=redis-1":             `--set faults[1].crash=redis-1: faults[1]: "crash" and "pause" are two faults; make them two items of the list`,
		"clients.client-2=null":               `file.yaml:8: faults[1].until: no client is called "client-2", with --set clients.client-2=null; did you mean "client-1"?`,
		"clients.client-9=null":               `--set clients.client-9=null: there is nothing to remove`,
		"lock.ttl=null":                       `file.yaml:3: lock.ttl: it is missing, with --set lock.ttl=null; every scenario needs it`,
		"lesson=x":                            `--set lesson=x: lesson is about the unchanged scenario; to change it, edit the file`,
		"variants.x.lock.ttl=3s":              `--set variants.x.lock.ttl=3s: --set changes every variant; write the path without "variants" and the name, and choose the variant with --variant`,
		"lock.ttl={a: [":                      `--set lock.ttl={a: [: this is not YAML: `,
		"lock.ttl=*x":                         `--set lock.ttl=*x: this is not YAML: an alias, and scenario files have none; write the value out`,
		"lock.ttl=\x00":                       `--set lock.ttl=�: there is a control character (U+0000) in the text; is this the right file?`,
		"lock.ttl=" + strings.Repeat("9", 80): `--set lock.ttl=` + strings.Repeat("9", 51) + `…: "` + strings.Repeat("9", 60) + `…" has no unit`,
	} {
		t.Run(set, func(t *testing.T) {
			_, err := parseScenario(t, overridable).With(set)
			if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error is\n%v\nwant one line that begins with\n%s", err, want)
			}
		})
	}
	for text, want := range map[string]string{
		"x":                              `"x" sets nothing; write a path, an equals sign and a value, as in lock.ttl=10s`,
		"=3":                             `"" is not the path of a value; `,
		"a..b=3":                         `"a..b" is not the path of a value; `,
		"faults[x]=3":                    `"faults[x]" is not the path of a value; `,
		"faults[0]=3":                    `"faults[0]" has the number 0, and items are counted from 1`,
		"faults[99999999999999999999]=3": `"faults[99999999999999999999]" has the number 99999999999999999999, `,
	} {
		if _, err := parseScenario(t, overridable).With(text); err == nil || !strings.HasPrefix(err.Error(), "--set "+want) {
			t.Errorf("the error of %q is %v, want %s", text, err, want)
		}
	}
}

// hasWorld reports whether this program can make the world of a variant.
func hasWorld(v *scenarios.Variant) bool {
	_, err := v.Config(scenarios.Options{Seed: 1, Fencing: scenarios.On})
	return err == nil
}

// In every scenario, each path that can be overridden accepts the value that it has. A value that
// is certainly wrong there is refused with a sentence.
func TestEveryPathCanBeOverridden(t *testing.T) {
	tried := 0
	for _, s := range scenarios.Embedded() {
		for i, v := range s.Variants {
			if testing.Short() && i > 0 {
				break
			}
			one, err := s.SelectVariant(v.Name)
			if err != nil {
				t.Fatal(err)
			}
			written := scenarios.WrittenValues(v)
			var paths []string
			for _, setting := range v.Settings() {
				path := setting.Path
				paths = append(paths, path)
				if value, ok := written[path]; ok {
					tried++
					changed, err := one.With(path + "=" + value)
					if err != nil {
						t.Errorf("%s %s: %s=%s: %v", s.Name, v.Name, path, value, err)
					} else if hasWorld(v) && !hasWorld(changed.Variants[0]) {
						t.Errorf("%s %s: %s=%s gives no world", s.Name, v.Name, path, value)
					}
				}
				wrong := path + "={no-such-field: [1]}"
				if _, err := one.With(wrong); err == nil || !strings.HasPrefix(err.Error(), "--set "+wrong) && len(path) < 35 {
					t.Errorf("%s %s: the error of %s is %v", s.Name, v.Name, wrong, err)
				}
			}
			for _, path := range slices.Sorted(maps.Keys(written)) {
				if !slices.Contains(paths, path) {
					t.Errorf("%s %s: %s is written, but is no path", s.Name, v.Name, path)
				}
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d values were tried", tried)
	}
}
