package reports

import (
	"fmt"
	"time"

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

func (b band) words() string { return visible(b.process) + " " + b.text + " " + fromTo(b.from, b.to) }

// bandBegins and bandEnds are the events with which the state of a process changes.
var (
	bandBegins = map[trace.Kind]string{trace.KindPause: "pause", trace.KindCrash: "down", trace.KindFail: "error"}
	bandEnds   = map[trace.Kind]string{trace.KindResume: "pause", trace.KindRestart: "down", trace.KindRecover: "error"}
)

// readBands finds what happened to the processes, and to the links between them.
func (d *diagram) readBands(room room) {
	type state struct {
		process, class string
		fault          int // of a link or a thread; a process itself is only in one such state
	}
	var bands []*band
	open := map[state]*band{}
	begin := func(s state, text string, ev *trace.Event) {
		open[s] = &band{s.process, s.class, text, ev.At, d.trace.End(), ev.Seq}
		bands = append(bands, open[s])
	}
	end := func(s state, at time.Duration) {
		if b := open[s]; b != nil {
			b.to = at
			delete(open, s)
		}
	}
	clocks := newTeller(d.trace, false)
	for i := range d.trace.Events {
		ev := &d.trace.Events[i]
		if ev.Kind == trace.KindCrash { // whatever the process was in, it is over
			end(state{ev.Process, "pause", 0}, ev.At)
			end(state{ev.Process, "error", 0}, ev.At)
		}
		if class := bandBegins[ev.Kind]; class != "" {
			begin(state{ev.Process, class, 0}, bandWords(ev), ev)
		}
		if class := bandEnds[ev.Kind]; class != "" {
			end(state{ev.Process, class, 0}, ev.At)
		}
		switch ev.Kind {
		case trace.KindStall:
			begin(state{ev.Process, "stall", ev.Fault}, "stands still", ev)
		case trace.KindStrike:
			for _, b := range d.apart(ev) {
				begin(state{b.process, b.class, ev.Fault}, b.text, ev)
			}
		case trace.KindLift:
			for _, b := range d.apart(ev) {
				end(state{b.process, b.class, ev.Fault}, ev.At)
			}
			end(state{trace.StorageName, "stall", ev.Fault}, ev.At)
		case trace.KindClock:
			told := len(clocks.entries)
			clocks.clockEvent(ev)
			for _, e := range clocks.entries[told:] {
				d.clocks = append(d.clocks, clockMark{ev.Process, e.text, ev.At, ev.Seq})
			}
		}
	}
	kept := keep(d, bands, room.bands, asMuch, func(b *band) int { return b.seq })
	d.omit(len(bands)-len(kept), 0, "a band", "bands")
	for _, b := range kept {
		d.bands = append(d.bands, *b)
		d.see(b.from, b.to)
	}
	jumps := d.clocks
	d.clocks = keep(d, jumps, room.bands, asMuch, func(c clockMark) int { return c.seq })
	d.omit(len(jumps)-len(d.clocks), 0, "a change of a clock", "changes of clocks")
	for _, c := range d.clocks {
		d.see(c.at)
	}
}

// bandWords say what is the matter with a process from an event on.
func bandWords(ev *trace.Event) string {
	switch ev.Kind {
	case trace.KindPause:
		if ev.Text == string(trace.Suspend) {
			return "suspended"
		}
		return "paused"
	case trace.KindCrash:
		return "down"
	}
	return "answers with errors"
}

// apart are the bands of a fault that acts on the links between processes: who is
// cut off shows it, and so do those that it is cut off from.
func (d *diagram) apart(ev *trace.Event) []band {
	class := d.kindOf(ev)
	words := map[string]string{"partition": "cut off from %s", "delay": "far from %s"}[class]
	if words == "" {
		return nil
	}
	groups := d.trace.Faults[ev.Fault-1].Targets
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
		words[i] = visible(n)
	}
	return list(words)
}

// kindOf is the kind of the fault that an event is about; "" if that is not known.
func (d *diagram) kindOf(ev *trace.Event) string {
	if ev.Fault < 1 || ev.Fault > len(d.trace.Faults) {
		return ""
	}
	return d.trace.Faults[ev.Fault-1].Kind
}
