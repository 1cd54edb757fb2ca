package reports

import (
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/trace"
)

// The report names the harms that were not found, with the worlds that were tried. It does
// not name the harms that were found.
func TestNotFound(t *testing.T) {
	const (
		fenced = "corrupts the data when the storage checks fencing tokens"
		own    = "makes the lock itself misbehave"
		leases = "makes the lock grant two leases at the same time"
		data   = "corrupts the data even without fencing tokens"
	)
	// Each of these entries of a world's damage shows exactly one harm.
	var (
		isFenced = explore.Harm{Fencing: runs.FencingOn, What: "no-lost-update"}
		isOwn    = explore.Harm{Fencing: runs.FencingOn, What: "progress", Blame: checks.BlameLock}
		isLeases = explore.Harm{Fencing: runs.FencingOff, What: "lease-exclusion", Blame: checks.BlameAssumption(trace.AssumeClock)}
		isData   = explore.Harm{Fencing: runs.FencingOff, What: "serial-sections"}
	)
	every := explore.Damage{isFenced, isOwn, isLeases, isData}
	// The next functions return damage without one harm, a way, and levels of a search: with all
	// single faults tried, with some of them tried, and with pairs.
	less := func(one explore.Harm) explore.Damage {
		return slices.DeleteFunc(slices.Clone(every), func(h explore.Harm) bool { return h == one })
	}
	way := func(faults int, e explore.Damage) explore.Way {
		return explore.Way{Damage: e, Example: runs.WorldSpec{Faults: make([]runs.Fault, faults)}}
	}
	all := func(e explore.Damage) explore.Level { return explore.Level{Faults: 1, Space: 10, Tried: 10, Damage: e} }
	some := func(e explore.Damage) explore.Level { return explore.Level{Faults: 1, Space: 10, Tried: 4, Damage: e} }
	pairs := func(e explore.Damage) explore.Level {
		return explore.Level{Faults: 2, Space: 1000, Tried: 50, Damage: e}
	}
	triples := explore.Level{Faults: 3, Space: 9999, Tried: 5, Damage: every}
	found := func(levels []explore.Level, ways ...explore.Way) explore.Result {
		return explore.Result{First: 1, Levels: levels, Ways: ways}
	}
	type levels = []explore.Level
	const both = " (tried: all 10 single faults and 50 of 1,000 pairs)"
	for name, c := range map[string]struct {
		result explore.Result
		want   []string
	}{
		"nothing broke":                  {explore.Result{Levels: levels{all(nil), pairs(nil)}}, []string{"Nothing broke, without fencing tokens or with them" + both + "."}},
		"single faults cause all harms":  {found(levels{all(every), pairs(nil)}, way(1, every)), nil},
		"all harms occur without faults": {found(levels{all(nil), pairs(nil)}, way(0, every)), nil},
		"only pairs cause harm": {
			found(levels{all(nil), pairs(every)}, way(2, every), way(2, less(isOwn))),
			[]string{
				"No single fault " + fenced + " (tried: all 10 single faults). It takes 2 faults: see ways 1 and 2.",
				"No single fault " + own + " (tried: all 10 single faults). It takes 2 faults: see way 1.",
				"No single fault " + leases + " (tried: all 10 single faults). It takes 2 faults: see ways 1 and 2.",
				"No single fault " + data + " (tried: all 10 single faults). It takes 2 faults: see ways 1 and 2.",
			},
		},
		// A world can show a harm that the example of its way does not show.
		"a single fault causes a harm that no example shows": {
			found(levels{all(explore.Damage{isLeases}), pairs(less(isFenced))}, way(1, explore.Damage{{Fencing: runs.FencingOn, What: "section-exclusion"}}), way(2, less(isFenced))),
			[]string{
				"No fault that was tried " + fenced + both + ".",
				"No single fault " + own + " (tried: all 10 single faults). It takes 2 faults: see way 2.",
				"No single fault " + data + " (tried: all 10 single faults). It takes 2 faults: see way 2.",
			},
		},
		"a pair causes a harm that no example shows": {
			found(levels{all(less(isOwn)), pairs(explore.Damage{isOwn})}, way(1, less(isOwn))),
			[]string{"No single fault " + own + " (tried: all 10 single faults). It takes 2 faults."},
		},
		// An example is made smaller after the search, and may then be a world that was not
		// tried.
		"the example of a pair is made smaller, to one fault": {found(levels{all(less(isOwn)), pairs(explore.Damage{isOwn})}, way(1, every)), nil},
		"only three faults cause a harm": {
			found(levels{all(less(isOwn)), pairs(less(isOwn)), triples}, way(3, explore.Damage{isOwn})),
			[]string{"No set of fewer than 3 faults that was tried " + own + both + ". It takes 3 faults: see way 1."},
		},
		"the search is stopped before all single faults are tried": {
			found(levels{some(less(isFenced)), {Faults: 2, Space: 9}}, way(1, less(isFenced))),
			[]string{"No fault that was tried " + fenced + " (tried: 4 of 10 single faults)."},
		},
		"a pair causes a harm, and not all single faults are tried": {
			found(levels{some(less(isFenced)), pairs(every)}, way(2, every)),
			[]string{"No single fault that was tried " + fenced + " (tried: 4 of 10 single faults). It takes 2 faults: see way 1."},
		},
		"some worlds are inconclusive": {
			found(levels{
				{Faults: 1, Space: 1500, Tried: 1500, Doubtful: 1200, Damage: less(isFenced)},
				{Faults: 2, Space: 99, Tried: 50, Doubtful: 1, Damage: less(isFenced)},
			}),
			[]string{"No fault that was tried " + fenced + " (tried: all 1,500 single faults except 1,200 that are inconclusive and 50 of 99 pairs except 1 that is inconclusive)."},
		},
		// The pauses in a danger map have other lengths than those that the search tries.
		"only a pause in the danger map causes a harm": {
			explore.Result{
				First: 1, Levels: levels{all(explore.Damage{isOwn, isLeases})},
				Maps: []explore.DangerMap{
					{Fencing: runs.FencingOff, Cells: [][]explore.Danger{{explore.Harmless, explore.TwoHolders}}},
					{Fencing: runs.FencingOn, Cells: [][]explore.Danger{{explore.Harmless}, {explore.Corrupted}}},
				},
			},
			[]string{
				"No fault that was tried " + fenced + " (tried: all 10 single faults). But a pause in the danger map does.",
				"No fault that was tried " + data + " (tried: all 10 single faults).",
			},
		},
		"no fault breaks anything, except a pause in the danger map": {
			explore.Result{
				Levels: levels{all(nil)},
				Maps:   []explore.DangerMap{{Fencing: runs.FencingOff, Cells: [][]explore.Danger{{explore.Corrupted}}}},
			},
			[]string{
				"No fault that was tried " + fenced + " (tried: all 10 single faults).",
				"No fault that was tried " + own + " (tried: all 10 single faults).",
				"No fault that was tried " + leases + " (tried: all 10 single faults).",
				"No fault that was tried " + data + " (tried: all 10 single faults). But a pause in the danger map does.",
			},
		},
		"a harm occurs only in the ways that are listed separately": {
			explore.Result{First: 1, RanOn: []explore.Way{way(1, explore.Damage{isFenced})}, Levels: levels{all(less(isFenced))}},
			[]string{"No fault that was tried " + fenced + ", except for the ways listed separately (tried: all 10 single faults)."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, a := range notFound(&c.result) {
				got = append(got, a.text)
				if want := c.result.Levels[0].Tried == c.result.Levels[0].Space && !strings.Contains(a.text, "danger map"); a.isFirm != want {
					t.Errorf("%q is marked as firm: %t, want the opposite", a.text, a.isFirm)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("the harms that were not found are\n%q\nwant\n%q", got, c.want)
			}
		})
	}
}

// Each harm matches its description, in the run that the description names.
func TestHarms(t *testing.T) {
	// The numbers are indexes of harms: corrupt data with fencing, misconduct of the lock, two
	// leases, and corrupt data without fencing.
	for one, want := range map[explore.Harm][]int{
		{Fencing: runs.FencingOff, What: "write-order"}:                                                       {3},
		{Fencing: runs.FencingOn, What: "write-order"}:                                                        {0},
		{Fencing: runs.FencingOn, What: "serial-sections", Blame: checks.BlameLock}:                           {0, 1},
		{Fencing: runs.FencingOff, What: "lease-exclusion", Blame: checks.BlameAssumption(trace.AssumeClock)}: {2},
		{Fencing: runs.FencingOn, What: "lease-exclusion", Blame: checks.BlameLock}:                           {1, 2},
		{Fencing: runs.FencingOff, What: "panic", Blame: checks.BlameLock}:                                    {1},
		{Fencing: runs.FencingOn, What: "section-exclusion", Blame: checks.BlameInherent}:                     nil,
		{Fencing: runs.FencingOff, What: "grant-order"}:                                                       nil,
	} {
		var got []int
		for i, h := range harms {
			if h.isIn(explore.Damage{one}) {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q matches the descriptions %v, want %v", one, got, want)
		}
	}
}

func TestCoverage(t *testing.T) {
	for want, l := range map[string]explore.Level{
		"every single fault at each of 7 points: 40 worlds; nothing broke": {Faults: 1, Space: 40, Tried: 40},
		"12 of 40 single faults tried; something broke in 3, and in none with fencing tokens; 2 new behaviours": {
			Faults: 1, Space: 40, Tried: 12, Broke: 3, Behaviours: 2, Damage: explore.Damage{{Fencing: runs.FencingOff, What: "write-order"}},
		},
		"5 of 40 pairs tried, 4 of 6 kinds of pairs; something broke in 3, in each also with fencing tokens (but never the data); 1 is inconclusive, for example because a fault found nothing to act on": {
			Faults: 2, Space: 40, Tried: 5, Kinds: 6, KindsTried: 4, Broke: 3, BrokeFenced: 3, Doubtful: 1, Damage: explore.Damage{{Fencing: runs.FencingOff, What: "write-order"}, {Fencing: runs.FencingOn, What: "section-exclusion"}},
		},
		"all 40 triples tried; something broke in 30, and in 20 of these also with fencing tokens; 1,000 are inconclusive, for example because a fault found nothing to act on": {
			Faults: 3, Space: 40, Tried: 40, Broke: 30, BrokeFenced: 20, Doubtful: 1000, Damage: explore.Damage{{Fencing: runs.FencingOn, What: "write-order"}},
		},
	} {
		rows := coverage(&explore.Result{Bases: []explore.BaseRecord{{Points: 3}, {Points: 4}}, Levels: []explore.Level{l}})
		if len(rows) != 1 || string(rows[0].Text) != want {
			t.Errorf("the row of the level is\n%v\nwant\n%q", rows, want)
		}
	}
}
