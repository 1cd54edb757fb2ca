package story

import (
	"cmp"
	"fmt"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// addFaults describes when faults strike, which request they stop in the storage, and when
// they end.
func (s *clauseBuilder) addFaults() {
	for _, a := range s.Acts() {
		s.addFault(a.Struck, "strikes: %s")
		if ev := a.Stalled; ev != nil {
			s.addEffect(ev, "stops serving %s %s of %s, but serves other requests", Possessive(ev.Client()), ev.Step, ev.Object)
		}
		if a.Lifted != nil {
			s.addFault(a.Lifted, "ends (%s)")
		}
	}
}

// addFault adds a clause that a fault strikes or ends. format has a %s for the fault.
func (s *clauseBuilder) addFault(ev *trace.Event, format string) {
	description := cmp.Or(ev.Text, s.Fault(ev.Fault).Text)
	s.add(ev, Clause{Subject: Raw(fmt.Sprintf("fault %d", ev.Fault)), Mood: FaultMood, Part: FaultStrikes, fault: ev.Fault, Predicate: Raw(fmt.Sprintf(format, description))})
}

// addProcesses describes which processes were paused, crashed or answered with errors, and
// which nodes took over or reached the disk.
func (s *clauseBuilder) addProcesses() {
	for _, spell := range s.Spells() {
		began, after := spell.Began, ""
		switch spell.State {
		case history.Paused:
			text := "is paused"
			if spell.How == string(trace.Suspend) {
				text = "is suspended: its monotonic clock stops too"
			}
			s.addEffect(began, "%s", text)
			after = "resumes after %s"
		case history.Down:
			s.addEffect(began, "%s%s", crashes[trace.Crash(spell.How)], s.leftBehind(began))
			after = "is back after %s"
			if spell.How == string(trace.FailOver) {
				after += ": its copy has taken over"
			}
		case history.Failing:
			s.addEffect(began, "answers every command with an error%s", reasonSuffix(spell.How))
		}
		switch on := spell.RecoveryEvent(); {
		case on == nil:
		case after == "":
			s.addEffect(on, "executes commands again")
		default:
			s.addEffect(on, after, Span(on.At-began.At))
		}
	}
	for _, ev := range s.Promotions() {
		s.addEffect(ev, "takes over from %s", ev.Peer)
	}
	for _, ev := range s.Syncs() {
		s.addMergeable(ev, Clause{Mood: DetailMood, mergeKey: "sync", items: []string{ev.Process}}, func(nodes []string) string {
			return "earlier changes reach the disk " + s.describeNodes(nodes)
		})
	}
}

// leftBehind says on which nodes a client's key remains when the client crashes while it asks for a
// lock. The acquire never ended, so no other clause says so.
func (s *clauseBuilder) leftBehind(crash *trace.Event) string {
	last, left := 0, ""
	for id, acquire := range s.acquires {
		if id.Client != crash.Process || id.Section <= last || acquire.Began == nil || acquire.Began.Seq > crash.Seq || endedBefore(acquire, crash) {
			continue
		}
		if nodes := s.keysAt(id, crash); len(nodes) > 0 {
			last, left = id.Section, ", leaving its key "+s.describeNodes(nodes)
		}
	}
	return left
}

// crashes says how a process crashes.
var crashes = map[trace.Crash]string{
	"":              "crashes",
	trace.Kill:      "crashes: the process is killed",
	trace.PowerLoss: "crashes: the machine loses power",
	trace.Shutdown:  "is shut down cleanly",
	trace.FailOver:  "loses its machine for good",
}

// addClocks describes clocks that are set or change their rate.
func (s *clauseBuilder) addClocks() {
	for _, ev := range s.ClockChanges() {
		if words := clockWords(s.History, ev); words != "" {
			s.add(ev, Clause{Subject: Raw(ev.Process), Mood: FaultMood, Part: FaultActs, IsAboutPossession: true, Predicate: Raw(words)})
		}
	}
}

// clockWords says how a clock fault changed a process's clocks; "" for a change that no
// clock fault made.
func clockWords(h *history.History, ev *trace.Event) string {
	switch ev.Clocks.Why {
	case trace.Jumped:
		way, by := "forward", h.Clocks().JumpSize(ev)
		if by < 0 {
			way, by = "back", -by
		}
		return fmt.Sprintf("its wall clock jumps %s by %s", way, Span(by))
	case trace.Drifted:
		return "its clocks now run " + rate(ev.Clocks.RatePPB)
	}
	return ""
}
