package libraries_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// Some runs are safe although sections overlapped. Their reports give the reason, and the
// reason must be true. If no sections overlapped, the report must give no such reason. The
// test checks every scenario of the catalogue, with its own lock and others. It also checks
// single faults, as a search makes them.
func TestReasonsForSafeOverlapsAreTrue(t *testing.T) {
	others := []string{"", "single", "redsync", "watchdog"}
	if testing.Short() {
		others = others[:1]
	}
	reasons, wroteEqual := map[checks.SafetyReason]int{}, 0
	for _, s := range append(scenarios.Embedded(), scenariosWithFaults(t)...) {
		for _, lock := range others {
			r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1, Lock: lock})
			if err != nil {
				continue // not every scenario applies to every lock
			}
			for _, run := range r.Runs {
				name := fmt.Sprintf("%s %s, fencing %s, lock %s", s.Name, run.Variant.Name, run.Fencing, lock)
				spares := run.Verdict.Verdict == checks.Safe && !slices.ContainsFunc(run.History.ServedRequests(), func(ev *trace.Event) bool { return !ev.OK }) &&
					run.Verdict.Finding(checks.SectionExclusion).Outcome == checks.Violated
				text := string(story.DataSummary(run.History, run.Verdict))
				if strings.Contains(text, "is intact although") != spares {
					t.Errorf("%s: the report is %q; want a reason why the data is intact although sections overlapped: %v", name, text, spares)
				}
				if !spares {
					continue
				}
				pairs, _ := checks.SafeOverlaps(run.History, 10)
				if len(pairs) == 0 {
					t.Errorf("%s: the report names no sections that overlap", name)
				}
				for _, p := range pairs {
					if p.Reason == checks.EquivalentToSerial && s.Name == "work-done-twice" {
						wroteEqual++ // both clients have written the same value, so there is no other reason
					} else {
						reasons[p.Reason]++
					}
					if bad := contradiction(run.History.Trace, p); bad != "" {
						t.Errorf("%s: %q, but %s", name, text, bad)
					}
				}
			}
		}
	}
	t.Logf("reasons given: %v, and %d times both clients wrote the same value", reasons, wroteEqual)
	if reasons[checks.WroteNothing] == 0 || reasons[checks.WroteBefore] == 0 || reasons[checks.DoneBefore] == 0 {
		t.Errorf("reasons given: %v; want each of %v, %v and %v", reasons, checks.WroteNothing, checks.WroteBefore, checks.DoneBefore)
	}
	if wroteEqual == 0 {
		t.Error("no sections overlap in work-done-twice, want some")
	}
	if reasons[checks.EquivalentToSerial] > 0 {
		t.Errorf("%d times the only reason given is that the data is intact", reasons[checks.EquivalentToSerial])
	}
}

// scenariosWithFaults returns scenarios of two clients with one fault each. The faults
// strike at every step of the first client.
func scenariosWithFaults(t *testing.T) []*scenarios.Scenario {
	t.Helper()
	var all []*scenarios.Scenario
	for _, does := range []string{"[read x, work, write x]", "[read x, work, check, write x]", "[read x, write x, work]", "[work, write x]", "[read x, work]"} {
		for _, fault := range []string{
			"before: client-1 read\n    pause: client-1", "before: client-1 work\n    pause: client-1", "after: client-1 work\n    pause: client-1",
			"before: client-1 release\n    pause: client-1", "before: client-1 work\n    crash: redis-1", "before: client-1 work\n    partition: client-1\n    from: [redis-1]",
			"before: client-1 work\n    jump: redis-1\n    by: 31s", "hold: client-1's request to storage", "hold: storage's reply to client-1",
		} {
			end := "\n    for: 45s"
			if strings.Contains(fault, "jump") {
				end = ""
			}
			text := fmt.Sprintf("title: t\nlock: {kind: watchdog, ttl: 30s}\nclients:\n  client-1: {does: %s, works: 2s}\n  client-2: {starts: client-1 acquired, works: 5s, retry-every: 4s}\nfaults:\n  - %s%s\n", does, fault, end)
			s, err := scenarios.Parse(fmt.Sprintf("faulty-%d.yaml", len(all)), []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, s)
		}
	}
	return all
}

// contradiction returns what in the events of a run contradicts the reason that its report
// gives; "" if nothing does.
func contradiction(t *trace.Trace, p checks.SafeOverlap) string {
	ofSection := func(ev *trace.Event, name string) bool {
		client := ev.Process
		if ev.Kind == trace.KindServe {
			client = ev.Client()
		}
		return name == client || name == fmt.Sprintf("%s (section %d)", client, ev.Section)
	}
	writes, others := 0, 0 // the writes of p.Section, and those of p.Other
	hasCause := p.Cause == checks.NoCause
	for i := range t.Events {
		ev := &t.Events[i]
		served := ev.Kind == trace.KindServe && ev.OK
		switch {
		case served && ofSection(ev, p.Section):
			if ev.Step == trace.Write {
				writes++
			}
			switch {
			case p.Reason == checks.WroteNothing && ev.Step == trace.Write:
				return fmt.Sprintf("the section wrote at %v", ev.At)
			case p.Reason == checks.WroteBefore && ev.Step == trace.Write && ev.At >= p.Entered:
				return fmt.Sprintf("the section wrote at %v", ev.At)
			case p.Reason == checks.DoneBefore && ev.At > p.Last.At:
				return fmt.Sprintf("the section used the storage again at %v", ev.At)
			}
		case served && ofSection(ev, p.Other):
			if ev.Step == trace.Write {
				others++
			}
			if p.Reason == checks.DoneBefore && ev.At < p.Next.At {
				return fmt.Sprintf("%s used the storage at %v", p.Other, ev.At)
			}
		case ev.At == p.CausedAt && ofSection(ev, p.Section):
			switch {
			case p.Cause == checks.NotifiedOfLoss && ev.Kind == trace.KindLost,
				p.Cause == checks.CheckFailed && ev.Kind == trace.KindEnd && ev.Step == trace.Check && !ev.OK,
				p.Cause == checks.ExtendFailed && ev.Kind == trace.KindEnd && ev.Step == trace.Extend && !ev.OK,
				p.Cause == checks.ClientCrashed && ev.Kind == trace.KindCrash:
				hasCause = true
			}
		}
	}
	switch {
	case p.Reason == checks.WroteBefore && writes == 0:
		return "the section wrote nothing"
	case p.Reason == checks.NeitherWrote && writes+others > 0:
		return "one of the sections wrote"
	case p.Reason == checks.DoneBefore && p.Last.At >= p.Next.At:
		return "the sections used the storage in the wrong order, or at the same time"
	case !hasCause:
		return fmt.Sprintf("the cause %v did not happen at %v", p.Cause, p.CausedAt)
	}
	return ""
}
