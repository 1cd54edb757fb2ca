package checks

import (
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// refusedWork measures how much work clients do that the storage then refuses. It compares two
// kinds of critical sections: those of which the storage applied no write because it refused their
// requests, and those of which it applied some write. A section's work lasts from its grant to the
// storage's last decision on it; what the client does later is not part of it. Sections whose reads
// all succeeded and that wrote nothing are not counted at all. Sections that are nested in each
// other count as one.
var refusedWork = measure{
	name:     "refused-work",
	title:    "sections whose work the storage refused, and the time that this work had taken",
	headline: []string{"refused sections"},
	take:     takeRefusedWork,
}

func takeRefusedWork(h *judgedRun) Measure {
	type decision struct {
		made bool
		last time.Duration
	}
	decided := map[history.Acquisition]*decision{}
	for _, ev := range h.ServedRequests() {
		if ev.By == nil || ev.OK && ev.Step != trace.Write {
			continue
		}
		id := history.Acquisition{Client: ev.By.Client, Section: ev.Section}
		if s := h.Section(id); s != nil {
			id = s.Outermost().Acquisition
		}
		d := decided[id]
		if d == nil {
			d = &decision{}
			decided[id] = d
		}
		d.made = d.made || ev.OK
		d.last = ev.At
	}
	var sections, refused int64
	var worked, refusedTime time.Duration
	for _, s := range h.Sections() {
		d := decided[s.Acquisition]
		if d == nil {
			continue
		}
		took := d.last - s.From.At
		sections++
		worked += took
		if !d.made {
			refused++
			refusedTime += took
		}
	}
	if sections == 0 {
		return noMeasure(nothingDecided.Reason())
	}
	return Measure{
		Figures: []Figure{
			{"refused sections", Count, refused},
			{"sections", Count, sections},
			{"refused time", Nanoseconds, int64(refusedTime)},
			{"time", Nanoseconds, int64(worked)},
		},
		Summary: ofSections.Reason(refused, sections, refusedTime, worked),
	}
}
