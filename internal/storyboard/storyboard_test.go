package storyboard

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// runsOf returns runs for traces written by hand: the first without fencing, the second with
// fencing.
func runsOf(traces ...*trace.Trace) []story.Run {
	titles := []string{"without fencing", "with fencing"}
	var runs []story.Run
	for i, t := range traces {
		h := history.New(t)
		runs = append(runs, story.Run{History: h, Verdict: checks.Check(h, nil), ID: "x", Title: titles[i]})
	}
	return runs
}

// textsOf returns the texts of moments.
func textsOf(moments []*moment) []string {
	var all []string
	for _, m := range moments {
		all = append(all, m.text)
	}
	return all
}

// A client is paused in its section until its lease has ended. Everything up to its late
// write is common to the two runs, and the write is applied in one and refused in the other.
func TestStoryboardOfAPausedHolder(t *testing.T) {
	s := newPlan(runsOf(simtest.PausedHolderTrace("none"), simtest.PausedHolderTrace("writes")))
	want := []string{"granted, token 1", "reads v0", "paused 30s", "lease expires", "granted, token 2", "writes v1"}
	if got := textsOf(s.common); !slices.Equal(got, want) {
		t.Errorf("the common moments are %q, want %q", got, want)
	}
	if !slices.IsSortedFunc(s.common, func(a, b *moment) int { return int(a.At - b.At) }) {
		t.Errorf("the moments are not in the order of the trace: %q", textsOf(s.common))
	}
	for i, want := range []string{"overwrites v1", "refused: token 1 < 2"} {
		if got := textsOf(s.endings[i].moments); !slices.Equal(got, []string{want}) {
			t.Errorf("the ending of run %d is %q, want %q", i+1, got, want)
		}
	}
	if got := s.cast.clients; !slices.Equal(got, []string{"client-1", "client-2"}) {
		t.Errorf("the clients are %q", got)
	}
}

// A storyboard of one run has everything in one line, and ends with the run's verdict.
func TestStoryboardOfOneRun(t *testing.T) {
	s := newPlan(runsOf(simtest.PausedHolderTrace("none")))
	got := textsOf(s.common)
	if len(got) == 0 || got[len(got)-1] != "overwrites v1" {
		t.Errorf("the moments are %q, want the late write at the end", got)
	}
	if len(s.endings) != 1 || len(s.endings[0].moments) != 0 {
		t.Errorf("there are %d endings, want one without moments of its own", len(s.endings))
	}
}

// Without the pause, the storyboard of gc-pause shows no late write, no lapse and no refusal.
func TestStoryboardWithoutTheCause(t *testing.T) {
	planOf := func(faults bool) *plan {
		s, err := scenarios.Open("gc-pause")
		if err != nil {
			t.Fatal(err)
		}
		var traces []*trace.Trace
		for _, fencing := range []string{scenarios.Off, scenarios.On} {
			world, err := s.Variants[0].Config(scenarios.Options{Seed: 1, Fencing: fencing})
			if err != nil {
				t.Fatal(err)
			}
			if !faults {
				world.Faults = nil
			}
			traces = append(traces, simtest.RunWorld(t, world))
		}
		return newPlan(runsOf(traces...))
	}
	effects := []kind{pauseKind, lapseKind, lateWriteKind, refusalKind}
	shown := func(s *plan) (all []kind) {
		moments := slices.Clone(s.common)
		for _, e := range s.endings {
			moments = append(moments, e.moments...)
		}
		for _, m := range moments {
			if slices.Contains(effects, m.kind) {
				all = append(all, m.kind)
			}
		}
		return all
	}
	if got := shown(planOf(true)); !slices.Equal(got, effects) {
		t.Errorf("with the pause, the storyboard shows the kinds %v, want %v", got, effects)
	}
	if got := shown(planOf(false)); len(got) > 0 {
		t.Errorf("without the pause, the storyboard shows the kinds %v, want none of %v", got, effects)
	}
}

// The heaviest moments are kept in their order, and of equal ones the first.
func TestKeepHeaviest(t *testing.T) {
	all := []*moment{{text: "a", weight: 40}, {text: "b", weight: 10}, {text: "c", weight: 90}, {text: "d", weight: 40}}
	if got := textsOf(keepHeaviest(all, 2)); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("kept %q", got)
	}
	if got := textsOf(keepHeaviest(all, 9)); !slices.Equal(got, []string{"a", "c", "d"}) {
		t.Errorf("kept %q, want all but the one that is too light", got)
	}
}

// Each build has what the build before it has, and something more; the last is the board.
func TestBuilds(t *testing.T) {
	b := Draw("A pause", runsOf(simtest.PausedHolderTrace("none"), simtest.PausedHolderTrace("writes")))
	if b.Steps != 8 {
		t.Fatalf("the board has %d steps, want 8", b.Steps)
	}
	before := b.Build(1).Texts
	for n := 2; n <= b.Steps; n++ {
		built := b.Build(n).Texts
		for _, text := range before {
			if !slices.Contains(built, text) {
				t.Errorf("build %d lacks %q, which the one before has", n, text.Line)
			}
		}
		if len(built) == len(before) {
			t.Errorf("build %d has nothing new", n)
		}
		before = built
	}
	last := b.Build(b.Steps)
	if len(last.Texts) != len(b.Texts) || len(last.Shapes) != len(b.Shapes) {
		t.Error("the last build is not the board")
	}
	for _, text := range b.Build(b.Steps - 1).Texts {
		if strings.Contains(string(text.Line), "refused") {
			t.Errorf("%q is shown before the last build", text.Line)
		}
	}
}

// A text is broken between words. A number stays with its word, and what does not fit ends
// in "…".
func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text        string
		width, most int
		want        string
		fits        bool
	}{
		{"granted, token 1", 90, 3, "granted,|token 1", true},
		{"lease expires", 300, 3, "lease expires", true},
		{"one two three four", 50, 2, "one|tw …", false},
		{"averyveryverylongword", 80, 2, "averyv…", false},
	} {
		lines, fits := wrap(c.text, c.width, c.most, 16, false)
		if got := strings.Join(lines, "|"); got != c.want || fits != c.fits {
			t.Errorf("%q in %d pixels: got %q, %v; want %q, %v", c.text, c.width, got, fits, c.want, c.fits)
		}
		for _, line := range lines {
			if w := textWidth(line, 16, false); w > c.width {
				t.Errorf("the line %q is %d pixels wide, want at most %d", line, w, c.width)
			}
		}
	}
}

// The times of a picture have as many digits as neighbours need to read differently, at most five.
func TestDigitsOfTimes(t *testing.T) {
	ms, us := time.Millisecond, time.Microsecond
	for _, c := range []struct {
		times []time.Duration
		want  int
	}{
		{[]time.Duration{5 * ms, 6 * ms, time.Second}, 3},
		{[]time.Duration{5 * ms, 5 * ms, time.Second}, 3}, // the same moment
		{[]time.Duration{5 * ms, 5*ms + 600*us, time.Second}, 4},
		{[]time.Duration{5 * ms, 5 * ms, 5*ms + 20*us}, 5},
		{[]time.Duration{5 * ms, 5*ms + 1}, 3}, // no number of digits helps
		{nil, 3},
	} {
		l := &layout{plan: &plan{}}
		for _, d := range c.times {
			l.common = append(l.common, &moment{Moment: history.StartOf(d)})
		}
		if got := l.digitsOfTimes(); got != c.want {
			t.Errorf("%v: %d digits, want %d", c.times, got, c.want)
		}
	}
}
