package checks

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/trace"
)

// How long a dead holder keeps others from the lock: from the moment at which a
// client that held it crashed or hung until another client was granted it. A
// client hangs that was paused and never went on, or that never came out of a
// step of its section.
var waitAfterCrash = measure{
	name:  "wait-after-crash",
	title: "from when the lock's holder crashed or hung until another client was granted it",
	take:  takeWaitAfterCrash,
}

func takeWaitAfterCrash(h *history) Measure {
	var times []time.Duration
	never, last := 0, "" // last is the client after which nobody was granted it
	deaths := h.deaths()
	for _, s := range h.sections {
		died := deaths[s.client]
		if !s.diedIn(died) {
			continue
		}
		if next := h.next(s, died); next != nil {
			times = append(times, next.from.at-died.At)
			continue
		}
		never++
		last = s.client
	}
	dead := len(times) + never
	switch {
	case dead == 0:
		return absent("no client crashed or hung while it held the lock")
	case len(times) == 0:
		return absent(fmt.Sprintf("nobody was granted the lock after %s had crashed or hung", last))
	}
	longest := slices.Max(times)
	m := Measure{
		Figures: []Figure{
			{"longest", Nanoseconds, int64(longest)},
			{"dead holders", Count, int64(dead)},
			{"never granted", Count, int64(never)},
		},
		text: brief(longest),
	}
	if dead > 1 {
		m.text = fmt.Sprintf("longest %s, %d dead holders", brief(longest), dead)
	}
	if never > 0 {
		m.text += fmt.Sprintf(", %d never granted", never)
	}
	return m
}

// deaths finds the events after which clients did nothing any more: a crash, a
// pause without an end, or the beginning of a step without an end.
func (h *history) deaths() map[string]*trace.Event {
	dead := map[string]*trace.Event{}
	steps := map[string][]*trace.Event{} // that each client is in, the innermost last
	for i := range h.trace.Events {
		ev := &h.trace.Events[i]
		in := steps[ev.Process]
		switch ev.Kind {
		case trace.KindCrash, trace.KindPause:
			dead[ev.Process] = ev
		case trace.KindResume:
			delete(dead, ev.Process)
		case trace.KindBegin:
			steps[ev.Process] = append(in, ev)
		case trace.KindEnd:
			if n := len(in); n > 0 && in[n-1].Step == ev.Step {
				steps[ev.Process] = in[:n-1]
			}
		}
	}
	for client, in := range steps {
		if dead[client] == nil && len(in) > 0 {
			dead[client] = in[len(in)-1]
		}
	}
	return dead
}

// diedIn reports whether a client died in a section, while it held the lock.
func (s *section) diedIn(died *trace.Event) bool {
	if died == nil || s.lease.end().before(momentOf(died)) {
		return false
	}
	return died.Kind != trace.KindBegin || s.to == forever
}

// next is the first section that was granted the lock of another after an event;
// nil if there is none.
func (h *history) next(s *section, after *trace.Event) *section {
	for _, o := range h.sections {
		if o.lock == s.lock && momentOf(after).before(o.from) {
			return o
		}
	}
	return nil
}
