package reports

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/story"
	"github.com/locksim/locksim/trace"
)

// A band is a stretch during which something is the matter with a process.
type band struct {
	process string
	// class is pause, down, partition, delay, error or stall.
	class    string
	text     string
	from, to time.Duration
	seq      int // of the event with which it began
}

func (b band) words() string {
	return story.Visible(b.process) + " " + b.text + " " + story.FromTo(b.from, b.to)
}

// bandClasses are the classes of the states of a process.
var bandClasses = map[history.State]string{history.Paused: "pause", history.Down: "down", history.Failing: "error"}

// bandWords say what is the matter with a process.
func bandWords(s *history.Spell) string {
	switch s.State {
	case history.Paused:
		if s.How == string(trace.Suspend) {
			return "suspended"
		}
		return "paused"
	case history.Down:
		return "down"
	}
	return "answers with errors"
}

// readBands finds what happened to the processes, and to the links between them.
func (d *diagram) readBands(room room) {
	var bands []band
	add := func(b band, began, ended *trace.Event) {
		b.from, b.to, b.seq = began.At, d.end(), began.Seq
		if ended != nil {
			b.to = ended.At
		}
		bands = append(bands, b)
	}
	for _, s := range d.history.Spells() {
		add(band{process: s.Process, class: bandClasses[s.State], text: bandWords(s)}, s.Began, s.Ended)
	}
	for _, act := range d.history.Acts() {
		for _, b := range d.apart(act) {
			add(b, act.Struck, act.Lifted)
		}
		if act.Stalled != nil {
			add(band{process: act.Stalled.Process, class: "stall", text: "stands still"}, act.Stalled, act.Lifted)
		}
	}
	slices.SortStableFunc(bands, func(a, b band) int { return cmp.Compare(a.seq, b.seq) })
	d.bands = keep(d, bands, room.bands, asMuch, func(b band) int { return b.seq })
	d.omit(len(bands)-len(d.bands), 0, "a band", "bands")
	for _, b := range d.bands {
		d.see(b.from, b.to)
	}
	d.readClocks(room.bands)
}

// readClocks finds the changes of clocks that the story tells of.
func (d *diagram) readClocks(most int) {
	var all []clockMark
	for _, ev := range d.history.ClockChanges() {
		if words := story.ClockWords(d.history, ev); words != "" {
			all = append(all, clockMark{ev.Process, words, ev.At, ev.Seq})
		}
	}
	d.clocks = keep(d, all, most, asMuch, func(c clockMark) int { return c.seq })
	d.omit(len(all)-len(d.clocks), 0, "a change of a clock", "changes of clocks")
	for _, c := range d.clocks {
		d.see(c.at)
	}
}

// apart are the bands of a fault that acts on the links between processes: who is
// cut off shows it, and so do those that it is cut off from.
func (d *diagram) apart(act *history.Act) []band {
	class := d.kindOf(act.Fault)
	words := map[string]string{"partition": "cut off from %s", "delay": "far from %s"}[class]
	if words == "" {
		return nil
	}
	groups := d.history.Trace.Faults[act.Fault-1].Targets
	if len(groups) != 2 || len(groups[0]) == 0 {
		return nil
	}
	one, others := groups[0][0], groups[1]
	bands := []band{{process: one, class: class, text: fmt.Sprintf(words, listed(others))}}
	for _, other := range others {
		bands = append(bands, band{process: other, class: class, text: fmt.Sprintf(words, listed([]string{one}))})
	}
	return bands
}

// listed writes names as a list.
func listed(names []string) string {
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = story.Visible(n)
	}
	return story.List(words)
}

// kindOf is the kind of a fault, by its number; "" if that is not known.
func (d *diagram) kindOf(fault int) string {
	faults := d.history.Trace.Faults
	if fault < 1 || fault > len(faults) {
		return ""
	}
	return faults[fault-1].Kind
}
