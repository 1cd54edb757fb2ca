package explore

import (
	"context"
	"slices"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
)

// drawMaps draws the danger maps of the first base that can be explored. A danger map shows what a
// pause of the base's first client does: it has a row for each point at which the pause begins, and
// a column for each length. There is one map without fencing tokens and one with them.
func (f *Found) drawMaps(ctx context.Context) ([]DangerMap, error) {
	first := slices.IndexFunc(f.records, func(r *Record) bool { return r.CanExplore() && len(r.Points) > 0 })
	if first < 0 || f.search.Quick || f.result.Stopped != "" || !f.search.Kinds.Tries("pause") {
		return nil, nil
	}
	r := f.records[first]
	client := r.Clients[0]
	var starts []InjectionPoint
	for _, p := range r.Points {
		if p.Process == client {
			starts = append(starts, p)
		}
	}
	lengths := r.mapLengths()
	rows := make([][]runs.WorldResult, len(starts))
	// At most two rows for each job run at the same time. So even in a search that can run only one
	// world at a time, the worlds that shrink the examples need not wait for all maps.
	err := parallel(ctx, 2*max(f.search.Jobs, 1), len(rows), func(ctx context.Context, i int) error {
		var err error
		rows[i], err = f.runPauses(ctx, r, client, starts[i], lengths)
		return err
	}, func(int) {})
	if err != nil {
		return nil, err
	}
	var both []DangerMap
	for _, fencing := range []string{runs.FencingOff, runs.FencingOn} {
		m := DangerMap{Base: r.Name, Client: client, Fencing: fencing, Lengths: lengths}
		for i, p := range starts {
			var row []Danger
			for _, o := range rows[i] {
				row = append(row, DangerOf(o.ForFencing(fencing)))
			}
			m.Starts = append(m.Starts, p.label())
			m.Cells = append(m.Cells, row)
		}
		both = append(both, m)
	}
	return both, nil
}

// runPauses runs pauses of a client that begin at one point, one for each length. It
// returns their results, in order.
func (f *Found) runPauses(ctx context.Context, r *Record, client string, start InjectionPoint, lengths []time.Duration) (all []runs.WorldResult, err error) {
	runner := f.runnerWithoutPlan()
	var ran []triedWorld
	for _, length := range lengths {
		w := runs.WorldSpec{Base: r.Base, Faults: []runs.Fault{runs.NewFault(&sim.Pause{Process: client}, length).WithTrigger(start.Strikes)}}
		o, repeats := r.findRepeated(w, ran)
		if !repeats {
			if o, err = runner.Run(ctx, w); err != nil {
				return nil, err
			}
			ran = addTried(ran, w, o)
		}
		all = append(all, o)
	}
	return all, nil
}

// label returns the label that a danger map shows for the point's row.
func (p InjectionPoint) label() string {
	if !p.Strikes.When.IsZero() {
		return p.Strikes.When.String()
	}
	return p.Strikes.String()
}

// mapLengths returns the lengths of a danger map's pauses: twenty, up to the longest fault
// of the search.
func (r *Record) mapLengths() []time.Duration {
	var all []time.Duration
	for n := time.Duration(1); n <= 20; n++ {
		all = append(all, r.longestFault()/20*n)
	}
	return all
}

// DangerOf summarizes the result of a run in one word.
func DangerOf(r runs.RunResult) Danger {
	danger := Harmless
	if r.Doubt != "" || r.RanOn {
		danger = Undecided
	}
	for _, b := range r.Breaks {
		switch p := checks.Property(b.What); {
		case p.IsData():
			return Corrupted
		case p.Card().Subject == checks.SubjectExclusion:
			danger = TwoHolders
		case p.Card().Subject == checks.SubjectMisconduct && danger != TwoHolders:
			danger = Misbehaved
		}
	}
	return danger
}
