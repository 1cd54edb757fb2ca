package reports

import (
	"bytes"
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

const (
	s  = time.Second
	ms = time.Millisecond
)

// The properties that break through a late write, and those that break if the lock is
// granted twice.
var (
	brokeLate  = []string{"section-exclusion", "grant-order", "write-order", "no-lost-update", "serial-sections"}
	brokeTwice = append([]string{"lease-exclusion"}, brokeLate...)
)

// pauseWay returns a way to break the lock by a pause.
func pauseWay() explore.Way {
	return explore.Way{
		ID: "a1", Cause: []string{"a pause of a client"},
		Causes: []explore.Cause{{Faults: "a pause of a client", Worlds: 1200}, {Faults: "a late read request", Worlds: 4}}, Stages: []string{"read", "work", "write"},
		Off: slices.Clone(brokeLate), On: []string{"section-exclusion"}, Blame: checks.BlameInherent, Worlds: 1204,
		Example: runs.WorldSpec{
			Change: scenarios.Change{Starts: map[string]trace.Point{"client-2": trace.At(trace.KeysExpired{Client: "client-1"})}},
			Faults: []runs.Fault{pauseFor(29880 * ms)},
		},
		Damage:  explore.Damage{{Fencing: runs.FencingOff, What: "no-lost-update", Blame: checks.BlameInherent}, {Fencing: runs.FencingOn, What: "section-exclusion", Blame: checks.BlameInherent}},
		Margins: []explore.Margin{{What: "a pause of client-1", Survived: sim.Size{Time: 29870 * ms}, Broken: sim.Size{Time: 29880 * ms}}},
		Title:   "client-1 pauses just before it writes, and an update is lost",
		Story: "client-1 gets the lock and reads. Just before it writes, it pauses for 29.88s. Its keys expire, and client-2 gets the lock, reads, " +
			"writes and releases. Then client-1 wakes up and writes over client-2's update, which is lost.",
		File: "found/redlock-1-pause.yaml", Text: []byte("title: a pause\n"),
	}
}

// releaseReply is redis-1's reply to client-1's release.
var releaseReply = trace.Message{Client: "client-1", Peer: "redis-1", Step: trace.Release, Reply: true}

// strikesAt returns a trigger with which a fault strikes at a happening.
func strikesAt(h trace.Happening) trace.Trigger { return trace.Trigger{When: trace.At(h)} }

// pauseFor returns a pause of client-1 that begins just before the client writes.
func pauseFor(d time.Duration) runs.Fault {
	return runs.Fault{Fault: sim.Fault{
		Action: &sim.Pause{Process: "client-1"}, For: d,
		Strikes: trace.Trigger{Before: trace.StepPoint{Client: "client-1", Step: trace.Write}},
	}}
}

// jumpWay returns a way to break the lock by a clock that jumps and a partition.
func jumpWay() explore.Way {
	return explore.Way{
		ID: "b2", Cause: []string{"a node's clock set forward", "a partition of a client from a minority of the nodes"}, Stages: []string{"acquire", "work"},
		Off: slices.Clone(brokeTwice), On: []string{"lease-exclusion", "section-exclusion"}, Blame: checks.BlameAssumption(trace.AssumeClock), Worlds: 96,
		Damage: explore.Damage{{Fencing: runs.FencingOff, What: "lease-exclusion", Blame: checks.BlameAssumption(trace.AssumeClock)}, {Fencing: runs.FencingOff, What: "no-lost-update"}, {Fencing: runs.FencingOn, What: "section-exclusion", Blame: checks.BlameAssumption(trace.AssumeClock)}},
		Example: runs.WorldSpec{Faults: []runs.Fault{
			{Fault: sim.Fault{Action: &sim.Partition{Process: "client-1", From: []string{"redis-4", "redis-5"}}}},
			{Fault: sim.Fault{Action: &sim.Jump{Process: "redis-3", By: 30 * s}, Strikes: strikesAt(trace.Action{Process: "client-1", Verb: trace.HasRead})}},
		}},
		Margins: []explore.Margin{{Fault: 1, What: "a jump of redis-3", Survived: sim.Size{Time: 29990 * ms}, Broken: sim.Size{Time: 30 * s}}},
		File:    "found/redlock-2-jump.yaml",
	}
}

// ownWay returns a way that is the lock's own fault, and that corrupts the data even with
// fencing tokens.
func ownWay() explore.Way {
	return explore.Way{
		ID: "c3", Cause: []string{"a crash of a node with persistence snapshot (power loss)", "connections cut between a client and a node"}, Stages: []string{"release"},
		Off: []string{"lease-exclusion", "no-lost-update", "release-ownership"}, On: []string{"no-lost-update"},
		Blame: checks.BlameLock, Worlds: 3,
		Example: runs.WorldSpec{
			Base: 1, Change: scenarios.Change{
				Clients: []string{"client-1", "client-2"}, Nodes: 3, Persistence: map[string]sim.Persistence{"redis-1": "snapshot"},
			},
			Faults: []runs.Fault{
				{Fault: sim.Fault{Action: &sim.Reset{Process: "client-1", From: "redis-1"}, Strikes: strikesAt(trace.Transit{Message: releaseReply})}},
				{Fault: sim.Fault{
					Action: &sim.CrashFault{Process: "redis-1", How: trace.PowerLoss}, For: s,
					Strikes: strikesAt(trace.Action{Process: "client-2", Verb: trace.Acquired}),
				}},
			},
		},
		Damage:  explore.Damage{{Fencing: runs.FencingOff, What: "lease-exclusion", Blame: checks.BlameLock}, {Fencing: runs.FencingOn, What: "no-lost-update"}},
		Margins: []explore.Margin{{Fault: 1, What: "a crash of redis-1", Broken: sim.Size{Time: ms}}},
		Title:   "redis-1 crashes while it tells client-1 that the lock is released, and an update is lost",
		File:    "found/redlock-3-reply.yaml",
	}
}

// panicWay returns a way in which the lock panics. It has no scenario file and no margin.
func panicWay() explore.Way {
	return explore.Way{
		ID: "f6", Cause: []string{"a late reply to a release"}, Stages: []string{"release"},
		Off: []string{"panic"}, On: []string{"panic"}, Blame: checks.BlameLock, Worlds: 1,
		Example: runs.WorldSpec{Faults: []runs.Fault{{Fault: sim.Fault{
			Action: &sim.Hold{Message: trace.NthMessage{Message: releaseReply}}, For: 60 * s,
		}}}},
		Damage: explore.Damage{{Fencing: runs.FencingOff, What: "panic", Blame: checks.BlameLock}, {Fencing: runs.FencingOn, What: "panic", Blame: checks.BlameLock}},
		Why:    "panic: nil map",
		Stack: "goroutine 7 [running]:\nexample.com/lock.(*Mutex).Unlock(0xc000123456)\n\t" +
			strings.Repeat("/very/long", 10) + "/lock/mutex.go:123 +0x1d\n",
	}
}

// fullSearch returns the result of a search that found ways of all sorts.
func fullSearch() *explore.Result {
	separate := pauseWay() // a way in which a paused process kept running
	separate.ID, separate.Worlds, separate.File = "d4", 12, "found/redlock-r1-pause.yaml"
	// row returns a row of a danger map. A cell is a dot if nothing broke, 2 for two holders, X for
	// corrupt data, and ? if the world is inconclusive.
	row := func(cells string) []explore.Danger {
		var all []explore.Danger
		for _, c := range cells {
			all = append(all, map[rune]explore.Danger{'.': explore.Harmless, '2': explore.TwoHolders, 'X': explore.Corrupted, '?': explore.Undecided}[c])
		}
		return all
	}
	return &explore.Result{
		Lock: "redlock", Nodes: 5, TTL: 30 * s, Seed: 1, MaxFaults: 3, Budget: 20000,
		Lengths: []time.Duration{3 * s, 60 * s, 150 * s}, Rates: []sim.Rate{sim.Percent, 50 * sim.Percent}, Takeover: 75 * s,
		Bases: []explore.BaseRecord{
			{Name: "contend", Points: 212, Steps: 34, Messages: 178},
			{Name: "queue", Points: 80, Steps: 12, Messages: 68},
		},
		Levels: []explore.Level{
			{
				Faults: 1, Space: 8934, Tried: 8934, Repeats: 1934, Broke: 812, BrokeFenced: 40, Doubtful: 12, Behaviours: 203,
				Damage: slices.Concat(panicWay().Damage, pauseWay().Damage),
			},
			{
				Faults: 2, Space: 17912345, Tried: 15000, Duplicates: 12, Kinds: 4020, KindsTried: 3411, Broke: 9000, BrokeFenced: 500, Behaviours: 12,
				Damage: slices.Concat(panicWay().Damage, ownWay().Damage, jumpWay().Damage, pauseWay().Damage),
			},
			{
				Faults: 3, Space: 99999999999, Tried: 4900, Duplicates: 1, Estimated: true, Kinds: 120000, KindsTried: 4100, Broke: 4000,
				Damage: pauseWay().Damage,
			},
		},
		Ways:  []explore.Way{panicWay(), ownWay(), jumpWay(), pauseWay()},
		RanOn: []explore.Way{separate},
		Maps: []explore.DangerMap{
			{
				Base: "contend", Client: "client-1", Fencing: runs.FencingOff,
				Lengths: []time.Duration{s, 15 * s, 29 * s, 30 * s, 31 * s, 60 * s},
				Starts:  []string{"before client-1 acquire", "before client-1 read", "before client-1 write", "before client-1 release"},
				Cells:   [][]explore.Danger{row("....??"), row("...2XX"), row("...2XX"), row("...222")},
			},
			{
				Base: "contend", Client: "client-1", Fencing: runs.FencingOn,
				Lengths: []time.Duration{s, 15 * s, 29 * s, 30 * s, 31 * s, 60 * s},
				Starts:  []string{"before client-1 acquire", "before client-1 read", "before client-1 write", "before client-1 release"},
				Cells:   [][]explore.Danger{row("....??"), row("...22X"), row("...222"), row("...222")},
			},
		},
		Worlds: 28934, Parts: 100, First: 12,
	}
}

// emptySearch returns the result of a search that tried all single faults and found
// nothing.
func emptySearch() *explore.Result {
	return &explore.Result{
		Lock: "mine", Nodes: 1, Seed: 7, MaxFaults: 1, Budget: 20000,
		Bases:  []explore.BaseRecord{{Name: "contend", Points: 4, Steps: 4}},
		Levels: []explore.Level{{Faults: 1, Space: 40, Tried: 40, Behaviours: 3}},
		Worlds: 40,
	}
}

// interruptedSearch returns the result of a search that was interrupted after it had found
// one way.
func interruptedSearch() *explore.Result {
	return &explore.Result{
		Lock: "redlock", Nodes: 5, TTL: 30 * s, Seed: 1, MaxFaults: 2, Budget: 20000,
		Bases:  []explore.BaseRecord{{Name: "contend", Points: 212, Steps: 34, Messages: 178, Broke: "progress"}},
		Levels: []explore.Level{{Faults: 1, Space: 8934, Tried: 3000, Broke: 100, Damage: pauseWay().Damage}, {Faults: 2, Space: 17912345}},
		Ways:   []explore.Way{pauseWay()},
		Worlds: 3000, First: 1, Stopped: "it was interrupted",
	}
}

// comparedSearch returns the result of fullSearch, and options with a comparison with an
// earlier search.
func comparedSearch() (*explore.Result, Options) {
	before := pauseWay()
	before.ID, before.Cause = "e5", []string{"a late write request"}
	known := &explore.Result{Lock: "redlock", Nodes: 5, TTL: 10 * s, Worlds: 30000, Ways: []explore.Way{jumpWay(), pauseWay(), before}}
	known.Ways[0].On = []string{"section-exclusion"}
	r := fullSearch()
	return r, Options{Since: Compare(r, known, "known.json")}
}

// writeExplored returns the report on a search in a format.
func writeExplored(t *testing.T, format string, r *explore.Result, o Options) string {
	t.Helper()
	for _, f := range Searches.Formats() {
		if f.Name == format {
			var b bytes.Buffer
			if err := f.Write(&b, r, o); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
	}
	t.Fatalf("no format %q", format)
	return ""
}

// The golden files contain reports of searches.
func TestExploredGolden(t *testing.T) {
	for _, format := range Searches.Formats() {
		for name, r := range map[string]*explore.Result{"several": fullSearch(), "nothing": emptySearch(), "stopped": interruptedSearch(), "compared": nil} {
			var o Options
			if r == nil {
				r, o = comparedSearch()
			}
			file := filepath.Join("testdata", "explored", name+"."+map[string]string{"text": "txt", "json": "json", "markdown": "md", "html": "html"}[format.Name])
			got := writeExplored(t, format.Name, r, o)
			if format.Name == "html" {
				got = mainPart(t, []byte(got))
			}
			if flag.Lookup("update").Value.String() == "true" {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v (go test ./reports -run TestExploredGolden -update writes it)", err)
			}
			if got != string(want) {
				t.Errorf("the report differs from %s; if it should, run go test ./reports -run TestExploredGolden -update, and read the difference\n%s", file, got)
			}
		}
	}
}

func TestExploredFitsThePage(t *testing.T) {
	for _, r := range []*explore.Result{fullSearch(), emptySearch(), interruptedSearch()} {
		for _, width := range []int{0, 60, 80, 200} {
			for line := range strings.Lines(writeExplored(t, "text", r, Options{Width: width})) {
				line = strings.TrimRight(line, "\n")
				isCommand := strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "replay")), "locksim ") // to be copied
				if n := utf8.RuneCountInString(line); n > cmp.Or(width, exploredWidth) && !isCommand {
					t.Errorf("in a report of %d columns, a line is %d columns wide: %s", cmp.Or(width, exploredWidth), n, line)
				}
			}
		}
	}
}

func TestColouredExploredSaysTheSame(t *testing.T) {
	r, o := comparedSearch()
	plain := writeExplored(t, "text", r, o)
	o.Palette = Colour
	coloured := writeExplored(t, "text", r, o)
	if plain == coloured {
		t.Error("the coloured report has no colour")
	}
	if stripColours(coloured) != plain {
		t.Errorf("without its colours the coloured report is\n%s\nwant\n%s", stripColours(coloured), plain)
	}
}

// hostileSearch returns the result of a search, and options that compare it with itself.
// Every text in it that comes from outside contains markup or control characters.
func hostileSearch() (*explore.Result, Options) {
	const evil = "x\x1b[31m|<b>\n```\n# h\n| a |\u202e*y*"
	r := fullSearch()
	r.Lock, r.Stopped = evil, evil
	for i := range r.Bases {
		r.Bases[i].Name, r.Bases[i].Broke, r.Bases[i].Doubt = evil, evil, []string{"", evil}[i]
	}
	for i := range r.Maps {
		r.Maps[i].Base, r.Maps[i].Client, r.Maps[i].Starts[0] = evil, evil, evil
	}
	for _, ways := range [][]explore.Way{r.Ways, r.RanOn} {
		for i := range ways {
			w := &ways[i]
			w.Title, w.Story = []string{"", evil}[i%2], evil
			w.Cause, w.Stages, w.File = []string{evil}, []string{evil}, evil+"(a) '>.yaml"
			w.Off, w.On = []string{evil}, []string{evil}
			w.Example.Change = scenarios.Change{Clients: []string{evil}, Starts: map[string]trace.Point{evil: trace.At(trace.KeysExpired{Client: evil})}}
			for j := range w.Example.Faults {
				w.Example.Faults[j].Action = []sim.Action{&sim.Pause{Process: evil}, &sim.Partition{Process: evil, From: []string{evil}}}[j]
			}
			w.Why, w.Stack, w.Causes = evil, evil+"\n"+evil, []explore.Cause{{Faults: evil}, {Faults: evil}}
			for j := range w.Margins {
				w.Margins[j].What = evil
			}
		}
	}
	known := &explore.Result{Lock: evil, Ways: []explore.Way{r.Ways[0], {ID: "gone", Cause: []string{evil}, Off: []string{evil}}}}
	known.Ways[0].On = nil
	return r, Options{Since: Compare(r, known, evil)}
}

// No text from outside can control the terminal, or has a meaning in Markdown.
func TestExploredEscapes(t *testing.T) {
	r, o := hostileSearch()
	for _, format := range []string{"text", "markdown"} {
		got := writeExplored(t, format, r, o)
		for _, c := range got {
			if c < ' ' && c != '\n' || c == '\u202e' {
				t.Fatalf("the report in the format %s contains %q:\n%s", format, c, got)
			}
		}
	}
	cells, fenced := 0, false
	for line := range strings.Lines(writeExplored(t, "markdown", r, o)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced, strings.HasPrefix(line, "    "): // a chart in a code block, or a stack
		case strings.HasPrefix(line, "# "), strings.Contains(line, "<b>"), strings.Contains(line, " *y*"):
			t.Errorf("a text from outside has become markup: %s", line)
		case strings.HasPrefix(line, "|"):
			bars := strings.Count(line, "|") - strings.Count(line, `\|`)
			if cells == 0 {
				cells = bars
			}
			if bars != cells {
				t.Errorf("a row has %d bars, want %d as in the head of its table: %s", bars, cells, line)
			}
		}
	}
	if fenced || cells != 10 {
		t.Errorf("a code block has no end, or a row of the table has %d bars, want 10", cells)
	}
}
