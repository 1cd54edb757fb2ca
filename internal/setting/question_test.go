package setting

import (
	"slices"
	"testing"

	"github.com/locksim/locksim/scenarios"
)

// A question about a scenario gives times in place of the points that say what other clients
// achieve. Points about the first holder and about servers stay.
func TestSettingForAQuestionGivesNoResultAway(t *testing.T) {
	const text = `
title: Three clients
lock: {kind: single, ttl: 10s}
clients:
  client-1: {works-until: client-2 released}
  client-2: {starts: client-1's keys expired}
  client-3: {starts: client-2 released}
network: {latency: 1ms}
faults:
  - {pause: client-1, before: client-1 read, until: client-2 acquired}
  - {pause: client-2, before: client-2 write, for: 2s}
`
	s, err := scenarios.Parse("three.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.Variants[0].Run(scenarios.RunOptions{Seed: 1}, scenarios.Off)
	if err != nil {
		t.Fatal(err)
	}
	want := []Row{
		{"lock", "single on 1 node, TTL 10s"},
		{"storage", "in the run with fencing it checks the token of every write"},
		{"client-1", "starts immediately, works for 2.01s"},
		{"client-2", "starts when client-1's keys expired"},
		{"client-3", "starts 12.011s after the start"},
		{"network", "every message takes 1ms"},
		{"fault 1", "pause client-1, before client-1 read, for 10.001s"},
		{"fault 2", "pause client-2, at 10.005s, for 2s"},
	}
	if got := DescribeForQuestion(run, 1); !slices.Equal(got, want) {
		t.Errorf("the setting is\n%v\nwant\n%v", got, want)
	}
}

// A fault that never acts keeps its words, because the run has no times for it.
func TestSettingForAQuestionOfAFaultThatDoesNotAct(t *testing.T) {
	s, err := scenarios.Parse("never.yaml", []byte(`
title: Nothing happens
lock: {kind: single, ttl: 10s}
clients: {client-1: {}, client-2: {starts: client-1 released}}
faults: [{crash: client-2, when: "client-2 failed to acquire, 9th time"}]
`))
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.Variants[0].Run(scenarios.RunOptions{Seed: 1}, scenarios.Off)
	if err != nil {
		t.Fatal(err)
	}
	rows := DescribeForQuestion(run, 1)
	if last := rows[len(rows)-1]; last.Text != "crash client-2, when client-2 failed to acquire, 9th time" {
		t.Errorf("the fault is described as %q", last.Text)
	}
}
