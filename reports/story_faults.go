package reports

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// tellFaults tells when the faults struck, what they stopped in the storage, and when they
// ended.
func (s *teller) tellFaults() {
	for _, a := range s.Acts() {
		s.fault(a.Struck, "strikes")
		if ev := a.Stalled; ev != nil {
			s.affects(ev, "stops in the middle of %s %s of %s", possessive(ev.Client()), ev.Step, visible(ev.Object))
		}
		if a.Lifted != nil {
			s.fault(a.Lifted, "is over")
		}
	}
}

func (s *teller) fault(ev *trace.Event, verb string) {
	what := visible(ev.Text)
	if what == "" && ev.Fault >= 1 && ev.Fault <= len(s.Trace.Faults) {
		what = visible(s.Trace.Faults[ev.Fault-1].Text)
	}
	s.add(ev, entry{who: fmt.Sprintf("fault %d", ev.Fault), mood: fault, part: strikes, text: verb + ": " + what})
}

// tellProcesses tells which processes did not run, and what became of the nodes.
func (s *teller) tellProcesses() {
	for _, spell := range s.Spells() {
		began, after := spell.Began, ""
		switch spell.State {
		case history.Paused:
			text := "is paused"
			if spell.How == string(trace.Suspend) {
				text = "is suspended: its monotonic clock stands still"
			}
			s.affects(began, "%s", text)
			after = "resumes after %s"
		case history.Down:
			s.affects(began, "%s%s", crashes[trace.Crash(spell.How)], s.leftBehind(began))
			after = "is back after %s"
			if spell.How == string(trace.FailOver) {
				after += ": its copy has taken over"
			}
		case history.Failing:
			s.affects(began, "answers every command with an error%s", because(spell.How))
		}
		switch on := spell.Recovered(); {
		case on == nil:
		case after == "":
			s.affects(on, "executes commands again")
		default:
			s.affects(on, after, span(on.At-began.At))
		}
	}
	for _, ev := range s.Promotions() {
		s.affects(ev, "takes over from %s", visible(ev.Peer))
	}
	for _, ev := range s.Syncs() {
		s.tellOnce(ev, entry{mood: faint, fold: "sync", items: []string{ev.Process}}, func(nodes []string) string {
			return "the data reaches the disk " + s.on(nodes)
		})
	}
}

// leftBehind says where the key stands of a client that crashes while it asks
// for a lock: the timeline has not told that yet.
func (s *teller) leftBehind(crash *trace.Event) string {
	last, left := 0, ""
	for id, acquire := range s.acquires {
		if id.Client != crash.Process || id.Section <= last || acquire.Began == nil || acquire.Began.Seq > crash.Seq || endedBefore(acquire, crash) {
			continue
		}
		if there := s.keysThere(id, crash); len(there) > 0 {
			last, left = id.Section, ", with its key "+s.on(there)
		}
	}
	return left
}

var crashes = map[trace.Crash]string{
	"":              "crashes",
	trace.Kill:      "crashes: the process is killed",
	trace.PowerLoss: "crashes: the machine loses power",
	trace.Shutdown:  "is shut down cleanly",
	trace.FailOver:  "loses its machine for good",
}

// tellClocks tells of clocks that are set or change their rate.
func (s *teller) tellClocks() {
	for _, ev := range s.ClockChanges() {
		if words := clockWords(s.History, ev); words != "" {
			s.add(ev, entry{who: visible(ev.Process), mood: fault, part: effect, its: true, text: words})
		}
	}
}

// clockWords say what a change did to a process's clocks; "" for one that no clock
// fault made.
func clockWords(h *history.History, ev *trace.Event) string {
	switch ev.Clocks.Why {
	case trace.Jumped:
		way, by := "forward", h.Clocks().Jump(ev)
		if by < 0 {
			way, by = "back", -by
		}
		return fmt.Sprintf("its wall clock jumps %s by %s", way, span(by))
	case trace.Drifted:
		return "its clocks now run " + rate(ev.Clocks.RatePPB)
	}
	return ""
}

// rate writes parts per billion as people say them.
func rate(ppb int64) string {
	way := "fast"
	if ppb < 0 {
		way, ppb = "slow", -ppb
	}
	switch {
	case ppb == 0:
		return "true"
	case ppb >= 100_000:
		return decimal(ppb, 10_000_000) + "% " + way
	case ppb >= 100:
		return decimal(ppb, 1000) + " ppm " + way
	}
	return fmt.Sprintf("%d ppb %s", ppb, way)
}

// decimal writes n/unit exactly; unit is a power of ten.
func decimal(n, unit int64) string {
	whole, rest := n/unit, n%unit
	if rest == 0 {
		return fmt.Sprint(whole)
	}
	digits := fmt.Sprintf("%d", unit+rest)[1:]
	return fmt.Sprintf("%d.%s", whole, strings.TrimRight(digits, "0"))
}

// scale is n*num/den, rounded towards 0, without overflow on the way; num and
// den are positive.
func scale(n, num, den int64) int64 {
	negative := n < 0
	if negative {
		n = -n
	}
	hi, lo := bits.Mul64(uint64(n), uint64(num))
	if hi >= uint64(den) {
		return 0 // beyond what a duration can hold: no clock gets there
	}
	quo, _ := bits.Div64(hi, lo, uint64(den))
	if negative {
		return -int64(quo)
	}
	return int64(quo)
}
