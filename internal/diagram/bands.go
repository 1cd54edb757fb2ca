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

// A band is a period during which a process is not in its normal state.
type band struct {
	process string
	// class is pause, down, partition, delay, error or stall.
	class    string
	text     string
	from, to time.Duration
	seq      int // of the event with which it began
}

// bandClasses are the classes of the states of a process.
var bandClasses = map[history.State]string{history.Paused: "pause", history.Down: "down", history.Failing: "error"}

// readBands finds the bands of the processes and of the links between them.
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
		d.show(b.from, b.to)
	}
	d.readClocks(room.bands)
}

// readClocks finds the changes of clocks that the timeline contains.
func (d *diagram) readClocks(most int) {
	var all []clockMark
	for _, ev := range d.history.ClockChanges() {
		if words := story.DescribeClockChange(d.history, ev); words != "" {
			all = append(all, clockMark{ev.Process, words, ev.At, ev.Seq})
		}
	}
	d.clocks = keepHeaviest(d.focus, all, most, equalWeight, func(c clockMark) int { return c.seq })
	d.noteOmitted(len(all)-len(d.clocks), 0, "a change of a clock", "changes of clocks")
	for _, c := range d.clocks {
		d.show(c.at)
	}
}

// linkBandsOf returns the bands of a fault that acts on the links between processes. The
// processes at both ends of the links have a band.
func (d *diagram) linkBandsOf(act *history.Act) []band {
	f := d.fault(act.Fault)
	look := linkBands[f.Effect]
	if look.words == "" {
		return nil
	}
	class, words, groups := look.class, look.words, f.Targets
	if len(groups) == 0 || len(groups[0]) == 0 {
		return nil
	}
	one := groups[0][0]
	if len(groups) == 1 {
		return []band{{process: one, class: class, text: strings.Replace(words, "%s", "everybody", 1)}}
	}
	others := groups[1]
	bands := []band{{process: one, class: class, text: fmt.Sprintf(words, story.List(others))}}
	for _, other := range others {
		bands = append(bands, band{process: other, class: class, text: fmt.Sprintf(words, one)})
	}
	return bands
}

// fault returns a fault by its number; the zero value if it is unknown. In a trace of an
// earlier version the effect follows from the kind.
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

// effectsOfOldKinds are the effects of the kinds with a band, for traces of versions that
// did not record effects.
var effectsOfOldKinds = map[string]trace.Effect{"partition": trace.CutsLink, "delay": trace.SlowsLink}

// A linkBand says how a fault that acts on the links between processes is drawn, on the
// processes at both ends; or why it has no band.
type linkBand struct {
	class, words string
	whyNone      string
}

// linkBands contains the linkBand of each effect.
var linkBands = map[trace.Effect]linkBand{
	trace.CutsLink:         {class: "partition", words: "cut off from %s"},
	trace.SlowsLink:        {class: "delay", words: "delayed to %s"},
	trace.StopsProcess:     {whyNone: "the process itself has a band"},
	trace.KillsProcess:     {whyNone: "the process itself has a band"},
	trace.AnswersErrors:    {whyNone: "the process itself has a band"},
	trace.StallsDisk:       {class: "stall", words: "its disk stalls"},
	trace.StallsRequest:    {whyNone: "the storage has a band while a request is stalled in it"},
	trace.HoldsMessage:     {whyNone: "the arrow of the message shows it"},
	trace.ResetsConnection: {whyNone: "it has no duration, and the messages that it takes are shown as lost"},
	trace.SetsClock:        {whyNone: "the clock has a mark"},
	trace.DriftsClock:      {whyNone: "the clock has a mark"},
	trace.MovesRole:        {whyNone: "it has no duration"},
	trace.CancelsCall:      {whyNone: "it has no duration"},
	trace.RevokesClaim:     {whyNone: "it has no duration"},
}
