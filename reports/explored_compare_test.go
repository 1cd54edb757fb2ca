package reports

import (
	"slices"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/trace"
)

func TestCompare(t *testing.T) {
	way := func(id string, fault checks.Blame, on ...string) explore.Way {
		return explore.Way{ID: id, Blame: fault, On: on}
	}
	clock := checks.BlameAssumption(trace.AssumeClock)
	for name, c := range map[string]struct {
		known, now []explore.Way // found by an earlier search, and by this one
		fresh      []string      // the ID of each new way, or of each known way that is worse and how
		gone       []string      // the IDs of the known ways that this search did not find
	}{
		"both searches find the same ways": {
			[]explore.Way{way("a", clock, "progress"), way("b", checks.BlameLock)},
			[]explore.Way{way("b", checks.BlameLock), way("a", clock, "progress")}, nil, nil,
		},
		"this search finds more ways": {
			[]explore.Way{way("a", clock)},
			[]explore.Way{way("b", checks.Blame{}), way("a", clock), way("c", checks.Blame{})}, []string{"b", "c"}, nil,
		},
		"this search finds fewer ways": {
			[]explore.Way{way("a", clock), way("b", checks.Blame{}), way("c", checks.Blame{})},
			[]explore.Way{way("b", checks.Blame{})}, nil, []string{"a", "c"},
		},
		"a way breaks more properties": {
			[]explore.Way{way("a", clock, "progress")},
			[]explore.Way{way("a", clock, "progress", "token-order", "no-lost-update")},
			[]string{"a it now breaks token-order and no-lost-update with fencing tokens"}, nil,
		},
		"a way breaks another property": {
			[]explore.Way{way("a", clock, "progress")},
			[]explore.Way{way("a", clock, "token-order")},
			[]string{"a it now breaks token-order with fencing tokens"}, nil,
		},
		"a way breaks fewer properties": {[]explore.Way{way("a", clock, "progress")}, []explore.Way{way("a", clock)}, nil, nil},
		"a way becomes the lock's own fault": {
			[]explore.Way{way("a", clock)}, []explore.Way{way("a", checks.BlameLock)},
			[]string{"a it is now the lock's own fault"}, nil,
		},
		"a way breaks more and becomes the lock's own fault": {
			[]explore.Way{way("a", checks.Blame{})}, []explore.Way{way("a", checks.BlameLock, "panic")},
			[]string{"a it now breaks panic with fencing tokens, and it is now the lock's own fault"}, nil,
		},
		"a way is no longer the lock's own fault": {[]explore.Way{way("a", checks.BlameLock)}, []explore.Way{way("a", clock)}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := Compare(&explore.Result{Ways: c.now}, &explore.Result{Ways: c.known}, "known.json")
			var fresh, gone []string
			for _, n := range got.New {
				if n.Worse != "" {
					n.Worse = " " + n.Worse
				}
				fresh = append(fresh, n.Way.ID+n.Worse)
			}
			for _, w := range got.Gone {
				gone = append(gone, w.ID)
			}
			if !slices.Equal(fresh, c.fresh) || !slices.Equal(gone, c.gone) {
				t.Errorf("the new ways are %q and the gone ones %q; want %q and %q", fresh, gone, c.fresh, c.gone)
			}
		})
	}
}

// Ways in which a paused process kept running are not compared. A way is therefore new if
// its process kept running in the earlier search and no longer does, and gone in the
// opposite case.
func TestWaysOfRunningProcessesAreNotCompared(t *testing.T) {
	known := &explore.Result{RanOn: []explore.Way{{ID: "a"}}, Ways: []explore.Way{{ID: "b"}}}
	now := &explore.Result{RanOn: []explore.Way{{ID: "b"}, {ID: "c"}}, Ways: []explore.Way{{ID: "a"}}}
	got := Compare(now, known, "known.json")
	if len(got.New) != 1 || got.New[0].Way.ID != "a" || len(got.Gone) != 1 || got.Gone[0].ID != "b" {
		t.Errorf("the comparison is %+v, want the way a as new and the way b as gone", got)
	}
}

// A comparison says if the two searches are hard to compare.
func TestDoubtfulComparisons(t *testing.T) {
	// doubts returns what the comparison says about two equal searches after the earlier one was
	// changed.
	doubts := func(known func(*explore.Result)) []string {
		k := fullSearch()
		known(k)
		return Compare(fullSearch(), k, "known.json").doubts(fullSearch())
	}
	if got := doubts(func(k *explore.Result) { k.Worlds++ }); got != nil {
		t.Errorf("no way is gone, so there must be no doubt, and there is %q", got)
	}
	for want, known := range map[string]func(*explore.Result){
		"The earlier search was of redlock on 3 nodes, TTL 30s.":                 func(k *explore.Result) { k.Nodes = 3 },
		"The earlier search was incomplete, so a way that seems new may be old.": func(k *explore.Result) { k.Stopped = "interrupted" },
		"This search tried 28,934 worlds and the earlier one 28,935, so a way that seems gone may still exist.": func(k *explore.Result) {
			k.Worlds++
			k.Ways = append(k.Ways, explore.Way{ID: "z"})
		},
	} {
		if got := doubts(known); len(got) != 1 || got[0] != want {
			t.Errorf("the doubts are %q, want %q", got, want)
		}
	}
}
