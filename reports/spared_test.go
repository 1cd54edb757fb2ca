package reports

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

func TestSparedWords(t *testing.T) {
	pair := checks.Sparing{First: "client-1", Second: "client-2", Entered: 31 * time.Second, Who: "client-1", Other: "client-2",
		Last: checks.Access{Step: trace.Write, Object: "x", At: 32 * time.Second}, Next: checks.Access{Step: trace.Read, Object: "x", At: 33 * time.Second},
		CausedAt: 30 * time.Second}
	for _, c := range []struct {
		how   checks.SparedHow
		cause checks.SparedCause
		want  string
	}{
		{checks.NeitherWrote, checks.NoCause, "neither of them wrote"},
		{checks.WroteNothing, checks.NoCause, "client-1 wrote nothing"},
		{checks.WroteNothing, checks.ToldOfLoss, "client-1 wrote nothing, for it had learnt from the lock at 30.000s that its lease was lost"},
		{checks.WroteNothing, checks.CheckFailed, "client-1 wrote nothing, for it had found at its check at 30.000s that its lease was over"},
		{checks.WroteNothing, checks.ExtendFailed, "client-1 wrote nothing, for it had learnt at 30.000s that it could not extend its lease"},
		{checks.WroteNothing, checks.ClientCrashed, "client-1 wrote nothing, for it crashed at 30.000s"},
		{checks.WroteBefore, checks.NoCause, "client-1 wrote nothing after client-2 had entered its own at 31.000s; its last write was applied at 32.000s"},
		{checks.DoneBefore, checks.NoCause, "client-1 was done with the storage before client-2 came to it; its last write was applied at 32.000s, and client-2's first read was answered at 33.000s"},
		{checks.OtherObjects, checks.NoCause, "they used no object in common"},
		{checks.AsIfApart, checks.NoCause, "what they read and wrote comes to the same as one after the other"},
	} {
		pair.How, pair.Cause = c.how, c.cause
		if got := sparedWords(pair); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// A run that is safe although sections overlapped says why, and that is so: with every
// story of the catalogue and with single faults as a search makes them, with their own
// lock and others, on several seeds. A run in which none
// overlapped says nothing of the kind.
func TestSparedIsTrue(t *testing.T) {
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	told := map[checks.SparedHow]int{}
	for _, s := range append(scenarios.Embedded(), faulty(t)...) {
		for _, lock := range []string{"", "single", "redsync", "watchdog"} {
			for seed := range seeds {
				r, err := scenarios.Run(s, scenarios.RunOptions{Seed: seed + 1, Lock: lock})
				if err != nil {
					continue // not every lock can tell every story
				}
				for _, run := range r.Runs {
					name := fmt.Sprintf("%s %s, fencing %s, lock %s, seed %d", s.Name, run.Variant.Name, run.Fencing, lock, seed+1)
					spares := run.Verdict.Verdict == checks.Safe && refusals(run.History) == "" &&
						run.Verdict.Finding(checks.SectionExclusion).Outcome == checks.Violated
					if says := strings.Contains(explainData(run), "is intact although"); says != spares {
						t.Errorf("%s: it says %q", name, explainData(run))
					}
					if !spares {
						continue
					}
					pairs, _ := checks.Spared(run.History, 10)
					if len(pairs) == 0 {
						t.Errorf("%s: no sections overlap", name)
					}
					for _, p := range pairs {
						told[p.How]++
						if bad := untrue(run.History.Trace, p); bad != "" {
							t.Errorf("%s: %q, but %s", name, sparedWords(p), bad)
						}
					}
				}
			}
		}
	}
	t.Logf("reasons told: %v", told)
	if told[checks.WroteNothing] == 0 || told[checks.WroteBefore] == 0 || told[checks.DoneBefore] == 0 {
		t.Errorf("reasons told: %v", told)
	}
	if told[checks.AsIfApart] > 0 {
		t.Errorf("%d times no reason is told but that the data is intact", told[checks.AsIfApart])
	}
}

// faulty are stories of two clients with one fault each, at every step of the first.
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

// untrue says what in the events speaks against a reason, or "".
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
		return "they came to the storage at once"
	case !caused:
		return fmt.Sprintf("nothing of the kind happened at %v", p.CausedAt)
	}
	return ""
}
