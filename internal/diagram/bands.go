package diagram

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// A band is a period during which a process is not in its normal state: it is paused, down
// or cut off, for example. It is drawn behind everything else on the process's lane.
type band struct {
	process string
	// class is the CSS class: pause, down, partition, delay, error or stall.
	class    string
	text     string
	from, to time.Duration
	seq      int // the Seq of the event with which it began
}

// bandClasses are the CSS classes for the states of a process.
var bandClasses = map[history.State]string{history.Paused: "pause", history.Down: "down", history.Failing: "error"}

// readBands finds the bands of processes, and those of the faults that act on links between
// processes.
func (d *diagram) readBands(room Room) {
	var bands []band
	add := func(b band, began, ended *trace.Event) {
		b.from, b.to, b.seq = began.At, d.end(), began.Seq
		if ended != nil {
			b.to = ended.At
		}
		bands = append(bands, b)
	}
	for _, s := range d.history.Spells() {
		add(band{process: s.Process, class: bandClasses[s.State], text: story.StateName(s)}, s.Began, s.Ended)
	}
	for _, act := range d.history.Acts() {
		for _, b := range d.linkBandsOf(act) {
			add(b, act.Struck, act.Lifted)
		}
		if act.Stalled != nil {
			add(band{process: act.Stalled.Process, class: "stall", text: "is stalled"}, act.Stalled, act.Lifted)
		}
	}
	slices.SortStableFunc(bands, func(a, b band) int { return cmp.Compare(a.seq, b.seq) })
	d.bands = keepHeaviest(d.focus, bands, room.bands, equalWeight, func(b band) int { return b.seq })
	d.noteOmitted(len(bands)-len(d.bands), 0, "a band", "bands")
	for _, b := range d.bands {
		d.addMoments(b.from, b.to)
	}
	d.readClocks(room.bands)
}

// readClocks finds the changes of clocks that the timeline reports.
func (d *diagram) readClocks(limit int) {
	var all []clockMark
	for _, ev := range d.history.ClockChanges() {
		if words := story.DescribeClockChange(d.history, ev); words != "" {
			all = append(all, clockMark{ev.Process, words, ev.At, ev.Seq})
		}
	}
	d.clocks = keepHeaviest(d.focus, all, limit, equalWeight, func(c clockMark) int { return c.seq })
	d.noteOmitted(len(all)-len(d.clocks), 0, "a change of a clock", "changes of clocks")
	for _, c := range d.clocks {
		d.addMoments(c.at)
	}
}

// linkBandsOf returns the bands of a fault that acts on the links between processes. The
// processes at both ends of these links have a band each.
func (d *diagram) linkBandsOf(act *history.Act) []band {
	f := d.fault(act.Fault)
	style := linkBands[f.Effect]
	if style.format == "" {
		return nil
	}
	class, format, groups := style.class, style.format, f.Targets
	if len(groups) == 0 || len(groups[0]) == 0 {
		return nil
	}
	target := groups[0][0]
	if len(groups) == 1 {
		return []band{{process: target, class: class, text: strings.Replace(format, "%s", "everybody", 1)}}
	}
	others := groups[1]
	bands := []band{{process: target, class: class, text: fmt.Sprintf(format, story.List(others))}}
	for _, other := range others {
		bands = append(bands, band{process: other, class: class, text: fmt.Sprintf(format, target)})
	}
	return bands
}

// fault returns the fault with the given number, from 1; the zero value if there is none.
// Traces of earlier versions do not record the effect of a fault, so it is derived from the
// fault's kind.
func (d *diagram) fault(number int) trace.FaultInfo {
	faults := d.history.Trace.Faults
	if number < 1 || number > len(faults) {
		return trace.FaultInfo{}
	}
	f := faults[number-1]
	if f.Effect == "" {
		f.Effect = effectsOfOldKinds[f.Kind]
	}
	return f
}

// effectsOfOldKinds has the effect of each kind of fault that has a band. Traces of earlier
// versions contain only the kind.
var effectsOfOldKinds = map[string]trace.Effect{"partition": trace.CutsLink, "delay": trace.SlowsLink}

// A linkBand says how the bands of a fault's effect on the links between processes look, or
// why the effect has none.
type linkBand struct {
	// format is the text of a band, with %s for the processes at the other end.
	class, format string
	// noBandReason says why the effect has no bands of links; only for readers of this
	// table.
	noBandReason string
}

// linkBands has an entry for each effect of a fault.
var linkBands = map[trace.Effect]linkBand{
	trace.CutsLink:         {class: "partition", format: "cut off from %s"},
	trace.SlowsLink:        {class: "delay", format: "delayed to %s"},
	trace.StopsProcess:     {noBandReason: "the process itself has a band"},
	trace.KillsProcess:     {noBandReason: "the process itself has a band"},
	trace.AnswersErrors:    {noBandReason: "the process itself has a band"},
	trace.StallsDisk:       {class: "stall", format: "its disk stalls"},
	trace.StallsRequest:    {noBandReason: "the storage has a band while a request is stalled in it"},
	trace.HoldsMessage:     {noBandReason: "the arrow of the message shows it"},
	trace.ResetsConnection: {noBandReason: "it has no duration, and the messages that it takes are shown as lost"},
	trace.SetsClock:        {noBandReason: "the clock has a mark"},
	trace.DriftsClock:      {noBandReason: "the clock has a mark"},
	trace.MovesRole:        {noBandReason: "it has no duration"},
	trace.CancelsCall:      {noBandReason: "it has no duration"},
	trace.RevokesClaim:     {noBandReason: "it has no duration"},
}
