package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/trace"
)

// A search skips worlds that would only repeat another one. This test runs them. Each has
// the result that the search reports, and the same events at the same times as a world that
// the search ran.
func TestSkippedWorldsRepeatOthers(t *testing.T) {
	for _, c := range []struct {
		lock  string
		nodes int
		// wall means that the lock uses the wall clock instead of the monotonic clock.
		wall bool
		// every is how many places are tested, in the long test and in the short one: one
		// in so many. A place is all single faults of one process at one moment.
		every [2]int
	}{
		{"single", 1, false, [2]int{1, 9}}, {"single", 1, true, [2]int{7, 23}}, {"redlock", 3, false, [2]int{8, 97}},
	} {
		t.Run(fmt.Sprint(c.lock, " by its wall clock: ", c.wall), func(t *testing.T) {
			t.Parallel()
			l, bases := newRunner(c.lock, c.nodes)
			if c.wall {
				for i, b := range bases {
					v, err := b.Variant()
					if err != nil {
						t.Fatal(err)
					}
					doc := v.Document()
					doc.Set("lock.clock", string(fakeclock.Wall))
					bases[i].Text = doc.Bytes()
				}
			}
			every := c.every[0]
			if testing.Short() {
				every = c.every[1]
			}
			left := map[trace.Effect]int{} // how many worlds are skipped, by the effect of their fault
			for base := range bases {
				r := makeRecord(t, l, bases, base)
				var all []singleFault
				for _, w := range r.Singles(Kinds{}, bases[base].Kinds) {
					all = append(all, singleFault{world: w})
				}
				for n, spot := range groupByMoment(all) {
					if n%every == 0 {
						checkRepeats(t, l, r, all, spot, left)
					}
				}
			}
			for _, e := range []trace.Effect{trace.StopsProcess, trace.KillsProcess, trace.CutsLink, trace.HoldsMessage, trace.SetsClock} {
				if left[e] == 0 && every == 1 {
					t.Errorf("no world with a fault that %s is skipped, want some", e)
				}
			}
		})
	}
}

// checkRepeats runs the worlds of a place that a search skips, too. It counts them by the
// effect of their fault.
func checkRepeats(t *testing.T, l *runs.Local, r *Record, all []singleFault, spot []int, left map[trace.Effect]int) {
	t.Helper()
	var ran []triedWorld
	var runs []string
	for _, i := range spot {
		w := all[i].world
		reported, repeats := r.findRepeated(w, ran)
		actual, err := l.Run(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		run := eventsOf(t, l, w)
		if !repeats {
			ran, runs = addTried(ran, w, actual), append(runs, run)
			continue
		}
		left[w.Faults[0].Effect()]++
		if !reflect.DeepEqual(reported.Off, actual.Off) || !reflect.DeepEqual(reported.On, actual.On) {
			t.Errorf("%s %v has the result\n%+v\nbut the search reports\n%+v", r.Name, w, actual, reported)
		}
		if !slices.Contains(runs, run) {
			t.Errorf("%s %v has other events than every world that the search runs", r.Name, w)
		}
	}
}

// eventsOf returns the events of a world as text. It leaves out details that may differ
// between worlds that repeat each other: the size of the fault, the words for a crash, when
// a disk is written to, and the time shown by a wall clock that the fault sets.
func eventsOf(t *testing.T, l *runs.Local, w runs.WorldSpec) string {
	t.Helper()
	var all strings.Builder
	for _, fencing := range []string{runs.FencingOff, runs.FencingOn} {
		p, err := l.Report(t.Context(), w, fencing)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range p.History.Trace.Events {
			ev.Seq = 0
			for _, by := range []**trace.Actor{&ev.By, &ev.Owner, &ev.Prior} {
				if *by != nil {
					*by = &trace.Actor{Client: (*by).Client, Section: (*by).Section}
				}
			}
			switch {
			case ev.Kind == trace.KindStrike, ev.Kind == trace.KindSync:
				continue
			case ev.Kind == trace.KindLift:
				ev.Text = ""
			case ev.Kind == trace.KindCrash && ev.Text == string(trace.Shutdown):
				ev.Text = string(trace.Kill)
			case ev.Kind == trace.KindClock && ev.Clocks.Why == trace.Jumped:
				clocks := *ev.Clocks
				clocks.Wall = 0
				ev.Clocks = &clocks
			}
			line, err := json.Marshal(ev)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&all, "%s\n", line)
		}
	}
	return all.String()
}

// Skipping worlds changes only the number of worlds that a search runs, and nothing else in
// its result. A search that is cut into parts, or that continues with a ledger, runs the
// same number.
func TestRepeatsChangeNothing(t *testing.T) {
	l, bases := newRunner("single", 1)
	find := func(runner runs.Runner, shard, shards int, ledger *Ledger) *Found {
		s := &Search{Bases: bases, MaxFaults: 1, Runner: runner, Records: Records{bases, l}, Kinds: Kinds{Only: []string{"crash", "jump"}}, Shard: shard, Shards: shards, Ledger: ledger}
		f, err := s.Find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if testing.Short() {
		bases = bases[:1]
	}
	var n atomic.Int64 // several worlds run at the same time
	// runEach runs every world, because without grounds no world is known to repeat another.
	runEach := runs.RunnerFunc(func(ctx context.Context, w runs.WorldSpec) (runs.WorldResult, error) {
		n.Add(1)
		o, err := l.Run(ctx, w)
		o.Grounds = runs.Grounds{}
		return o, err
	})
	all, some := find(runEach, 0, 0, nil), find(l, 0, 0, nil)
	if repeats := some.result.Levels[0].Repeats; repeats == 0 || all.result.Levels[0].Repeats != 0 || int(n.Load()) != all.result.Worlds {
		t.Errorf("%d of %d worlds repeat others, want some; without grounds %d do, want 0, and %d worlds were run, want all", repeats, all.result.Worlds, all.result.Levels[0].Repeats, n.Load())
	}
	var text strings.Builder
	together := NewLedger()
	for shard := 1; shard <= 3; shard++ {
		part := NewLedger()
		s := Search{Bases: bases, MaxFaults: 1, Shard: shard, Shards: 3}
		heading := s.Heading("test", "single")
		text.Reset()
		if err := part.WriteTo(&text, &heading); err != nil {
			t.Fatal(err)
		}
		find(l, shard, 3, part)
		if _, err := together.Read(strings.NewReader(text.String()), func(Heading) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	// A part of the search continues with half of its ledger. The ledger has the grounds
	// that show which worlds repeat another one.
	lines := strings.SplitAfter(text.String(), "\n")
	half := NewLedger()
	if _, err := half.Read(strings.NewReader(strings.Join(lines[:len(lines)/2], "")), func(Heading) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if whole, resumed := find(l, 3, 3, nil), find(l, 3, 3, half); describeFound(whole) != describeFound(resumed) {
		t.Errorf("a part that continues with half of its ledger finds:\n%s\nin one go it finds:\n%s", describeFound(resumed), describeFound(whole))
	}
	together.SetComplete()
	if merged := find(l, 0, 0, together); describeFound(merged) != describeFound(some) {
		t.Errorf("the joined ledgers of the parts give:\n%s\nthe whole search finds:\n%s", describeFound(merged), describeFound(some))
	}
	some.result.Levels[0].Repeats = 0
	if describeFound(some) != describeFound(all) {
		t.Errorf("without the worlds that repeat others the search finds:\n%s\nwith them:\n%s", describeFound(some), describeFound(all))
	}
}

// describeFound returns as text all that a search has found.
func describeFound(f *Found) string {
	var examples []string
	for id, g := range f.groups {
		examples = append(examples, id+" "+g.best.world.Key())
	}
	slices.Sort(examples)
	return fmt.Sprintf("%+v\n%s\n%s\n%d", f.result.Levels, groupIDs(f), strings.Join(examples, "\n"), f.result.First)
}
