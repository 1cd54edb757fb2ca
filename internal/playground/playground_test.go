package playground_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/playground"
	"github.com/locksim/locksim/scenarios"
)

// serve sends a request as a page does: the request and the answer are converted to JSON and back.
func serve[A any](t *testing.T, r playground.Request) A {
	t.Helper()
	request, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var a A
	if err := json.Unmarshal(playground.Serve(request), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// run returns the answer to a request for a run.
func run(t *testing.T, r playground.Request) playground.Answer {
	t.Helper()
	r.Kind = playground.RunKind
	a := serve[playground.Answer](t, r)
	if len(a.Runs) != 2 {
		t.Fatalf("%+v has %d runs, want 2; the problems are %q", r, len(a.Runs), problems(t, r))
	}
	return a
}

// problems returns the sentences that say why a request cannot be answered.
func problems(t *testing.T, r playground.Request) []string {
	t.Helper()
	var all []string
	for _, p := range failure(t, r) {
		all = append(all, p.Text)
	}
	return all
}

func failure(t *testing.T, r playground.Request) []playground.Problem {
	t.Helper()
	if r.Kind == "" {
		r.Kind = playground.RunKind
	}
	return serve[struct{ Problems []playground.Problem }](t, r).Problems
}

// A change of the world changes the verdicts, and the sentences and the picture with them.
func TestChangesTurnTheVerdict(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  playground.Request
		off, on string
		event   string // one that the picture shows
	}{
		{"unchanged", playground.Request{}, "unsafe", "safe", "refused: token 1 < 2."},
		{"a pause that is shorter than the lease", playground.Request{Pause: "20s"}, "safe", "safe", "paused 20s."},
		{"a pause that is longer", playground.Request{Sets: []string{"faults[1].for=40s"}}, "unsafe", "safe", "paused 40s."},
		{"a longer TTL", playground.Request{Sets: []string{"lock.ttl=1m", "faults[1].for=40s"}}, "safe", "safe", "paused 40s."},
		{"a pause before the lock is acquired", playground.Request{Sets: []string{"faults[1].before=client-1 acquire", "faults[1].for=40s"}}, "safe", "safe", "granted, token 1."},
		{"another lock", playground.Request{Lock: "single"}, "unsafe", "safe", "refused: token 1 < 2."},
		{"three nodes", playground.Request{Sets: []string{"lock.nodes=3"}}, "unsafe", "safe", "refused: token 1 < 2."},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.change.Scenario, c.change.Seed = "gc-pause", 1
			a := run(t, c.change)
			if a.Runs[0].Verdict != c.off || a.Runs[1].Verdict != c.on {
				t.Errorf("without fencing it is %s, with fencing %s; want %s and %s", a.Runs[0].Verdict, a.Runs[1].Verdict, c.off, c.on)
			}
			if !slices.ContainsFunc(a.Events, func(e string) bool { return strings.HasSuffix(e, c.event) }) {
				t.Errorf("no event ends in %q: %q", c.event, a.Events)
			}
			if len(a.Figure.Shapes) == 0 || len(a.Figure.Texts) == 0 {
				t.Error("the figure is empty")
			}
		})
	}
}

// The traces are those of the command, and the replay line is the command that makes them.
func TestTracesAreThoseOfTheCommand(t *testing.T) {
	sets := []string{"faults[1].for=31s", "lock.ttl=29s"}
	s, err := scenarios.Open("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	if s, err = s.With(sets...); err != nil {
		t.Fatal(err)
	}
	want, err := scenarios.Run(s, scenarios.RunOptions{Seed: 7, Lock: "single"})
	if err != nil {
		t.Fatal(err)
	}
	a := run(t, playground.Request{Scenario: "gc-pause", Sets: sets, Seed: 7, Lock: "single", Fencing: "on"})
	for i, r := range a.Runs {
		if hash := want.Runs[i].History.Trace.Hash(); r.Hash != hash {
			t.Errorf("fencing %s: the hash is %s, want %s", r.Fencing, r.Hash, hash)
		}
	}
	if want := "locksim run gc-pause --seed 7 --lock single --set 'faults[1].for=31s' --set lock.ttl=29s --fencing on"; a.Replay != want {
		t.Errorf("the replay line is\n%s, want\n%s", a.Replay, want)
	}
}

// A request that cannot be run is answered by a sentence with the place of the mistake.
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		name    string
		request playground.Request
		line    int
		want    string
	}{
		{"a file that is no YAML", playground.Request{Text: "title: [x\n"}, 2, "this is not YAML"},
		{"a field that does not exist", playground.Request{Text: "title: x\nlock: {kind: redlock, tll: 30s}\nclients: {a: {}}\n"}, 2, `did you mean "ttl"?`},
		{"a scenario that does not exist", playground.Request{Scenario: "gc-paus"}, 0, `did you mean "gc-pause"?`},
		{"a lock that does not exist", playground.Request{Scenario: "gc-pause", Lock: "redsink"}, 0, `there is no lock "redsink"; did you mean "redsync"?`},
		{"a lock of another program", playground.Request{Scenario: "gc-pause", Lock: "etcd"}, 0, "the lock etcd is not part of this engine; this command has it\nlocksim run gc-pause --seed 1 --lock etcd"},
		{"a TTL that is none", playground.Request{Scenario: "gc-pause", Sets: []string{"lock.ttl=soon"}}, 0, `lock.ttl=soon: "soon" is not a duration`},
		{"a value that does not exist", playground.Request{Scenario: "gc-pause", Sets: []string{"lock.tll=3s"}}, 0, "lock.tll=3s: "},
		{"a variant that does not exist", playground.Request{Scenario: "retry-fixed", Variant: "none"}, 0, "retry-fixed has no variant"},
		{"a pause without a pause", playground.Request{Scenario: "clock-jump", Pause: "3s"}, 0, "no fault of clock-jump is a pause"},
		{"a fencing that is none", playground.Request{Scenario: "gc-pause", Fencing: "maybe"}, 0, `fencing is "maybe"; it must be off or on`},
		{"a kind that does not exist", playground.Request{Kind: "dance", Scenario: "gc-pause"}, 0, `no request of the kind "dance"`},
		{"a world that does not end", playground.Request{Scenario: "gc-pause", Sets: []string{"horizon=4h", "lock.ttl=2h", "faults[1].for=1h", "clients.client-2={starts: client-1 acquired, retry-every: 1ms}"}}, 0, "too much happens in this world"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && len(c.request.Sets) > 2 {
				t.Skip("200,000 events take seconds")
			}
			c.request.Seed = 1
			got := failure(t, c.request)
			if text := problemsText(got); strings.HasPrefix(text, "--set") || strings.Contains(text, "scenario.yaml") {
				t.Errorf("the problems are about a flag or a file that the reader of the page does not have: %q", text)
			}
			if len(got) == 0 || !strings.Contains(problemsText(got), c.want) || got[0].Line != c.line {
				t.Errorf("the problems are %+v, want %q at line %d", got, c.want, c.line)
			}
		})
	}
}

func problemsText(all []playground.Problem) string {
	var words []string
	for _, p := range all {
		words = append(words, p.Text)
	}
	return strings.Join(words, "\n")
}

// A reader can let the fault strike at each of the places, and the world is then possible.
func TestPlaces(t *testing.T) {
	for _, scenario := range []string{"gc-pause", "node-pause", "clock-jump", "pause-in-flight", "vm-suspend"} {
		t.Run(scenario, func(t *testing.T) {
			p := serve[playground.Places](t, playground.Request{Kind: playground.PlacesKind, Scenario: scenario, Seed: 1})
			if len(p.Places) < 3 {
				t.Fatalf("there are %d places, want at least 3", len(p.Places))
			}
			own := run(t, playground.Request{Scenario: scenario, Seed: 1}).Fault
			if !slices.ContainsFunc(p.Places, func(p playground.Place) bool { return p.Strikes == own.Strikes }) {
				t.Errorf("the scenario's own place, %s, is not among %+v", own.Strikes, p.Places)
			}
			for _, place := range p.Places {
				a := run(t, playground.Request{Scenario: scenario, Seed: 1, Sets: []string{place.Set}})
				if a.Fault.Strikes != place.Strikes {
					t.Errorf("with %s the fault strikes %s, want %s", place.Set, a.Fault.Strikes, place.Strikes)
				}
			}
			for _, size := range p.Sizes {
				run(t, playground.Request{Scenario: scenario, Seed: 1, Sets: []string{own.SizePath + "=" + size}})
			}
		})
	}
}

// A fault of one message strikes when that message is sent, so it has the place of its scenario
// alone.
func TestPlaceOfAMessage(t *testing.T) {
	p := serve[playground.Places](t, playground.Request{Kind: playground.PlacesKind, Scenario: "delayed-write", Seed: 1})
	if len(p.Places) != 1 {
		t.Errorf("the places are %+v, want one", p.Places)
	}
}

// The cells of the danger map say what the runs of their worlds say.
func TestCells(t *testing.T) {
	for _, c := range []struct{ set, sign, level string }{
		{"faults[1].for=20s", "·", "unharmed"},
		{"faults[1].for=40s", "x", "corrupted"},
		{"faults[1]={before: client-1 read, pause: client-1, for: 40s}", "2", "two-holders"},
	} {
		cell := serve[playground.Cell](t, playground.Request{Kind: playground.CellKind, Scenario: "gc-pause", Seed: 1, Sets: []string{c.set}})
		a := run(t, playground.Request{Scenario: "gc-pause", Seed: 1, Sets: []string{c.set}})
		if cell.Sign != c.sign || cell.Level != c.level || cell.Off != a.Runs[0].Verdict || cell.On != a.Runs[1].Verdict {
			t.Errorf("%s: the cell is %+v, want the sign %s, the class %s and the verdicts %s and %s", c.set, cell, c.sign, c.level, a.Runs[0].Verdict, a.Runs[1].Verdict)
		}
	}
}

// The catalogue has every scenario, and says for each whether the program can run it.
func TestCatalogue(t *testing.T) {
	var names []string
	for _, g := range playground.Catalogue() {
		for _, e := range g.Scenarios {
			names = append(names, e.Name)
			if e.Name == "gc-pause" && e.Command != "" || e.Name == "etcd-gc-pause" && e.Command != "locksim run etcd-gc-pause" {
				t.Errorf("%s: the command is %q", e.Name, e.Command)
			}
		}
	}
	slices.Sort(names)
	if want := scenarios.Names(); !slices.Equal(names, want) {
		t.Errorf("the catalogue has %d scenarios, want %d", len(names), len(want))
	}
}
