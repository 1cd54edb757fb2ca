package reports

import (
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

func (s *teller) faultEvent(ev *trace.Event) {
	what := visible(ev.Text)
	if what == "" && ev.Fault >= 1 && ev.Fault <= len(s.trace.Faults) {
		what = visible(s.trace.Faults[ev.Fault-1].Text)
	}
	verb := "strikes"
	if ev.Kind == trace.KindLift {
		verb = "is over"
	}
	s.add(entry{at: ev.At, who: fmt.Sprintf("fault %d", ev.Fault), mood: fault, part: strikes, text: verb + ": " + what})
}

func (s *teller) processEvent(ev *trace.Event) {
	switch ev.Kind {
	case trace.KindPause:
		s.since[ev.Process] = ev.At
		text := "is paused"
		if ev.Text == "suspend" {
			text = "is suspended: its monotonic clock stands still"
		}
		s.affects(ev, "%s", text)
	case trace.KindResume:
		s.affects(ev, "resumes after %s", span(ev.At-s.since[ev.Process]))
	case trace.KindRanOn:
		s.say(ev, wrong, "ran on while paused%s", because(ev.Text))
	case trace.KindCrash:
		s.since[ev.Process] = ev.At
		s.copied[ev.Process] = ev.Text == string(trace.FailOver)
		s.affects(ev, "%s%s", crashes[ev.Text], s.leftBehind(ev.Process))
	case trace.KindRestart:
		if s.copied[ev.Process] {
			s.affects(ev, "is back after %s: its copy has taken over", span(ev.At-s.since[ev.Process]))
			return
		}
		s.affects(ev, "is back after %s", span(ev.At-s.since[ev.Process]))
	case trace.KindSync:
		s.add(s.folded(entry{at: ev.At, mood: faint, fold: "sync", items: []string{ev.Process}}, func(nodes []string) string {
			return "the data reaches the disk " + s.on(nodes)
		}))
	case trace.KindPromote:
		s.affects(ev, "takes over from %s", visible(ev.Peer))
	case trace.KindFail:
		s.affects(ev, "answers every command with an error%s", because(ev.Text))
	case trace.KindRecover:
		s.affects(ev, "executes commands again")
	case trace.KindClock:
		s.clockEvent(ev)
	}
}

// leftBehind says where the key stands of a client that crashes while it asks
// for a lock: the timeline has not told that yet.
func (s *teller) leftBehind(client string) string {
	last, left := 0, ""
	for who, a := range s.acquires {
		if who.client == client && who.section > last && !a.ended && len(a.standing) > 0 {
			last, left = who.section, ", with its key "+s.on(a.standing)
		}
	}
	return left
}

var crashes = map[string]string{
	"":           "crashes",
	"kill":       "crashes: the process is killed",
	"power-loss": "crashes: the machine loses power",
	"shutdown":   "is shut down cleanly",
	"failover":   "loses its machine for good",
}

func (s *teller) clockEvent(ev *trace.Event) {
	before := s.clocks[ev.Process]
	s.clocks[ev.Process] = ev
	if before == nil {
		s.started[ev.Process] = ev
	}
	if before == nil || ev.Clocks == nil {
		return
	}
	switch ev.Clocks.Why {
	case "jump":
		by := time.Duration(ev.Clocks.Wall - before.Clocks.Wall - advance(before.Clocks, ev.At-before.At))
		way := "forward"
		if by < 0 {
			way, by = "back", -by
		}
		s.affects(ev, "its wall clock jumps %s by %s", way, span(by))
	case "drift":
		s.affects(ev, "its clocks now run %s", rate(ev.Clocks.RatePPB))
	}
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

// advance is how far clocks that go on as c says go in a stretch of true time.
func advance(c *trace.Clocks, true time.Duration) int64 {
	if c.Halted {
		return 0
	}
	return scale(int64(true), 1e9+c.RatePPB, 1e9)
}

// trueTime maps a reading of a process's clock to true time, as far as its
// clocks are known. It is false where they never reach the reading. A lock that
// reads true time saw only the clock that the process had at the start.
func (s *teller) trueTime(process string, r fakeclock.Reading, readsTrueTime bool) (time.Duration, bool) {
	ev := s.clocks[process]
	if readsTrueTime {
		ev = s.started[process]
	}
	if ev == nil || ev.Clocks.Halted || ev.Clocks.RatePPB <= -1e9 {
		return 0, false
	}
	shown := ev.Clocks.Wall
	if r.Clock == fakeclock.Monotonic {
		shown = ev.Clocks.Monotonic
	}
	return ev.At + time.Duration(scale(r.Nanos-shown, 1e9, 1e9+ev.Clocks.RatePPB)), true
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

// folded completes an entry that is merged with neighbours of its fold.
func (s *teller) folded(e entry, merge func([]string) string) entry {
	e.merge = merge
	e.text = merge(e.items)
	return e
}
