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

// If a run is safe although sections overlapped, its report gives the reason, and the
// reason is true. The test checks every scenario of the catalogue and single faults as a
// search makes them, with their own lock and others. If no sections overlapped, the report
// gives no such reason.
func TestSparedIsTrue(t *testing.T) {
	others := []string{"", "single", "redsync", "watchdog"}
	if testing.Short() {
		others = others[:1]
	}
	told, alike := map[checks.SparedHow]int{}, 0
	for _, s := range append(scenarios.Embedded(), faulty(t)...) {
		for _, lock := range others {
			r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1, Lock: lock})
			if err != nil {
				continue // not every scenario applies to every lock
			}
			for _, run := range r.Runs {
				name := fmt.Sprintf("%s %s, fencing %s, lock %s", s.Name, run.Variant.Name, run.Fencing, lock)
				spares := run.Verdict.Verdict == checks.Safe && !slices.ContainsFunc(run.History.Served(), func(ev *trace.Event) bool { return !ev.OK }) &&
					run.Verdict.Finding(checks.SectionExclusion).Outcome == checks.Violated
				says := string(story.OfData(run.History, run.Verdict))
				if strings.Contains(says, "is intact although") != spares {
					t.Errorf("%s: it says %q", name, says)
				}
				if !spares {
					continue
				}
				pairs, _ := checks.Spared(run.History, 10)
				if len(pairs) == 0 {
					t.Errorf("%s: no sections overlap", name)
				}
				for _, p := range pairs {
					if p.How == checks.AsIfApart && s.Name == "work-done-twice" {
						alike++ // both write the same: there is no other reason
					} else {
						told[p.How]++
					}
					if bad := untrue(run.History.Trace, p); bad != "" {
						t.Errorf("%s: %q, but %s", name, says, bad)
					}
				}
			}
		}
	}
	t.Logf("reasons given: %v, and %d times both wrote the same", told, alike)
	if told[checks.WroteNothing] == 0 || told[checks.WroteBefore] == 0 || told[checks.DoneBefore] == 0 {
		t.Errorf("reasons given: %v", told)
	}
	if alike == 0 {
		t.Error("nothing overlaps in work-done-twice")
	}
	if told[checks.AsIfApart] > 0 {
		t.Errorf("%d times the only reason given is that the data is intact", told[checks.AsIfApart])
	}
}

// scenariosWithFaults returns scenarios of two clients with one fault each, at every step
// of the first client.
func faulty(t *testing.T) []*scenarios.Scenario {
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

// contradiction returns what in the events contradicts a reason, or "".
func untrue(t *trace.Trace, p checks.Sparing) string {
	ofSection := func(ev *trace.Event, name string) bool {
		client := ev.Process
		if ev.Kind == trace.KindServe {
			client = ev.Client()
		}
		return name == client || name == fmt.Sprintf("%s (section %d)", client, ev.Section)
	}
	writes, others := 0, 0 // by Who, and by the Other
	caused := p.Cause == checks.NoCause
	for i := range t.Events {
		ev := &t.Events[i]
		served := ev.Kind == trace.KindServe && ev.OK
		switch {
		case served && ofSection(ev, p.Who):
			if ev.Step == trace.Write {
				writes++
			}
			switch {
			case p.How == checks.WroteNothing && ev.Step == trace.Write:
				return fmt.Sprintf("it wrote at %v", ev.At)
			case p.How == checks.WroteBefore && ev.Step == trace.Write && ev.At >= p.Entered:
				return fmt.Sprintf("it wrote at %v", ev.At)
			case p.How == checks.DoneBefore && ev.At > p.Last.At:
				return fmt.Sprintf("it came to the storage again at %v", ev.At)
			}
		case served && ofSection(ev, p.Other):
			if ev.Step == trace.Write {
				others++
			}
			if p.How == checks.DoneBefore && ev.At < p.Next.At {
				return fmt.Sprintf("%s came to the storage at %v", p.Other, ev.At)
			}
		case ev.At == p.CausedAt && ofSection(ev, p.Who):
			switch {
			case p.Cause == checks.ToldOfLoss && ev.Kind == trace.KindLost,
				p.Cause == checks.CheckFailed && ev.Kind == trace.KindEnd && ev.Step == trace.Check && !ev.OK,
				p.Cause == checks.ExtendFailed && ev.Kind == trace.KindEnd && ev.Step == trace.Extend && !ev.OK,
				p.Cause == checks.ClientCrashed && ev.Kind == trace.KindCrash:
				caused = true
			}
		}
	}
	switch {
	case p.How == checks.WroteBefore && writes == 0:
		return "it wrote nothing"
	case p.How == checks.NeitherWrote && writes+others > 0:
		return "one of them wrote"
	case p.How == checks.DoneBefore && p.Last.At >= p.Next.At:
		return "they came to the storage in the wrong order, or at the same time"
	case !caused:
		return fmt.Sprintf("nothing of the kind happened at %v", p.CausedAt)
	}
	return ""
}
