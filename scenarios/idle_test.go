package scenarios_test

import (
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/scenarios"
)

// If no client acquires the lock, a run of a changed scenario is not safe. The unchanged scenario
// may expect that no client does, and its witnesses may say so of a run with another lock.
func TestNobodyAcquires(t *testing.T) {
	for _, c := range []struct {
		scenario, variant, lock string
		override                []string
		want                    string
	}{
		{"node-pause", "vote-needed", "", nil, checks.Safe},
		{"node-pause", "vote-needed", "single", nil, checks.Safe},
		{"node-pause", "vote-needed", "", []string{"lock.ttl=20s"}, checks.Undecided},
		{"gc-pause", "", "", []string{"network.latency=3s"}, checks.Undecided},
		{"gc-pause", "", "", []string{"lock.ttl=20s", "faults[1].for=1s"}, checks.Safe},
	} {
		s, err := scenarios.Open(c.scenario)
		if err != nil {
			t.Fatal(err)
		}
		if s, err = s.SelectVariant(c.variant); err != nil {
			t.Fatal(err)
		}
		if s, err = s.With(c.override...); err != nil {
			t.Fatal(err)
		}
		r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1, Lock: c.lock})
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range r.Runs {
			if run.Verdict.Verdict != c.want {
				t.Errorf("%v, fencing %s: the verdict is %s, want %s; reasons %v", c, run.Fencing, run.Verdict.Verdict, c.want, run.Verdict.Reasons)
			}
			if progress := run.Verdict.Finding(checks.Progress).Outcome; c.want == checks.Undecided && progress != checks.Violated {
				t.Errorf("%v: progress %s, and it is violated", c, progress)
			}
		}
	}
}

// A scenario without witnesses does not say of another lock that no client is meant to acquire it.
func TestNobodyAcquiresAnotherLock(t *testing.T) {
	s, err := scenarios.Parse("cut-off.yaml", []byte(`
title: Two of three nodes are out of reach
lock: {kind: redlock, ttl: 10s, nodes: 3}
clients: {client-1: {}}
faults: [{partition: client-1, from: [redis-1, redis-2]}]
horizon: 1m
`))
	if err != nil {
		t.Fatal(err)
	}
	for lock, want := range map[string]string{"redlock": checks.Safe, "single": checks.Undecided} {
		r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1, Lock: lock})
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range r.Runs {
			if run.Verdict.Verdict != want {
				t.Errorf("%s, fencing %s: the verdict is %s, want %s; reasons %v", lock, run.Fencing, run.Verdict.Verdict, want, run.Verdict.Reasons)
			}
		}
	}
}
