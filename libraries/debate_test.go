package libraries_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// debateFile has a line for each variant of the debate's scenarios and each lock: the
// verdicts without fencing and with it, or why there is none. Lines of locks that have the
// same result are joined. At its end are the numbers of scenarios for each lock.
const debateFile = "testdata/debate.txt"

// A debateCount counts the scenarios of the debate by what a lock's runs show.
type debateCount struct{ full, partly, unknown, refused int }

// Every scenario of the debate runs with every lock, or is refused before anything runs. No
// judged cell of the table may become unknown or refused unnoticed.
func TestDebateWithEveryLock(t *testing.T) {
	if testing.Short() {
		t.Skip("this test runs each scenario of the debate with each lock")
	}
	var table strings.Builder
	counts := map[string]debateCount{}
	for _, s := range scenarios.Embedded() {
		if s.Group != "debate" {
			continue
		}
		judged, refused, unknown := map[string]int{}, map[string]int{}, map[string]int{}
		for _, v := range s.Variants {
			var results []string
			locksWith := map[string][]string{}
			for _, lock := range locks.Names() {
				result, kind := debateResult(t, v, lock)
				map[string]map[string]int{"judged": judged, "unknown": unknown, "refused": refused}[kind][lock]++
				if locksWith[result] == nil {
					results = append(results, result)
				}
				locksWith[result] = append(locksWith[result], lock)
			}
			for _, result := range results {
				fmt.Fprintf(&table, "%s: %s\n\t%s\n", strings.TrimSuffix(s.Name+"/"+v.Name, "/"), result, strings.Join(locksWith[result], " "))
			}
		}
		for _, lock := range locks.Names() {
			c := counts[lock]
			switch {
			case unknown[lock] > 0:
				c.unknown++
			case judged[lock] == 0:
				c.refused++
			case refused[lock] > 0:
				c.partly++
			default:
				c.full++
			}
			counts[lock] = c
		}
	}
	fmt.Fprintln(&table)
	for _, lock := range locks.Names() {
		c := counts[lock]
		fmt.Fprintf(&table, "%-32s %2d judged in full, %2d in the variants that apply, %2d unknown, %2d refused\n", lock, c.full, c.partly, c.unknown, c.refused)
	}
	if *update {
		if err := os.WriteFile(debateFile, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(debateFile)
	if err != nil {
		t.Fatal(err)
	}
	got, listed := strings.Split(table.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(listed)) {
		if i >= len(got) || i >= len(listed) || got[i] != listed[i] {
			t.Fatalf("line %d of %s differs from what the runs show: look at the difference after go test ./libraries -run '^%s$' -update", i+1, debateFile, t.Name())
		}
	}
}

// debateResult returns the verdicts of a variant with a lock, or why there are none, and
// whether the variant was judged, unknown or refused.
func debateResult(t *testing.T, v *scenarios.Variant, lock string) (result, kind string) {
	runs, notApplicable, err := v.RunBoth(scenarios.RunOptions{Seed: 1, Lock: lock})
	switch {
	case err != nil:
		t.Fatal(err)
	case notApplicable != "":
		return "refused: " + notApplicable, "refused"
	}
	for _, run := range runs {
		if run.Verdict.Verdict == checks.Undecided {
			return "unknown: " + story.ForPrograms.Reasons(run.Verdict.Reasons)[0], "unknown"
		}
	}
	return runs[0].Verdict.Verdict + "/" + runs[1].Verdict.Verdict, "judged"
}

// A lock's card says whether the lock renews its grants. A run must show the same: client-1 works
// for three times the TTL, and another client asks for the lock meanwhile.
func TestCardsSayWhichLocksRenew(t *testing.T) {
	s, err := scenarios.Parse("renews.yaml", []byte(`
title: A holder works for longer than the TTL
lock: {kind: single, ttl: 10s}
clients:
  client-1: {works: 30s}
  client-2: {starts: client-1 read}
horizon: 2m
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, lock := range locks.Names() {
		kind, _ := locks.Lookup(lock)
		if slots, _ := kind.Slots("resource", 1); kind.Open || kind.Endless || kind.KeepsData || kind.ConfirmedWithin > 0 || slots == nil {
			continue // nobody is excluded, a grant has no end to renew or needs a replica, or no key shows its end
		}
		runs, notApplicable, err := s.Variants[0].RunBoth(scenarios.RunOptions{Seed: 1, Lock: lock})
		if err != nil || notApplicable != "" || len(runs) == 0 {
			t.Errorf("%s: %v %s", lock, err, notApplicable)
			continue
		}
		past := runs[0].History
		if len(past.Occurrences(trace.At(trace.Action{Process: "client-1", Verb: trace.HasRead}))) == 0 {
			continue // it needs more servers than one, so nobody is granted it
		}
		expired := len(past.Occurrences(trace.At(trace.KeysExpired{Client: "client-1"}))) > 0
		takenOver := !kind.Renews && runs[0].Verdict.Finding(checks.SectionExclusion).Outcome == checks.Violated // without an event of the server
		if (expired || takenOver) == kind.Renews {
			t.Errorf("%s: the holder's keys expired: %v; the card says that the lock renews its grants: %v", lock, expired, kind.Renews)
		}
	}
}
