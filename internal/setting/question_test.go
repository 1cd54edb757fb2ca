package setting

import (
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
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
		{"client-2", "starts when client-1's keys have expired"},
		{"client-3", "starts 12.011s after the start"},
		{"network", "every message takes 1ms"},
		{"fault 1", "pause client-1, before client-1 read, for 10.001s"},
		{"fault 2", "pause client-2, at 10.005s, for 2s"},
	}
	if got := DescribeForQuestion(run, 1, isNoAnswer); !slices.Equal(got, want) {
		t.Errorf("the setting is\n%v\nwant\n%v", got, want)
	}
}

// The points of a scenario are said in the present tense.
func TestPointsInASettingForAQuestion(t *testing.T) {
	for text, want := range map[string]string{
		"client-1 paused":                       "when client-1's pause begins",
		"5s after redis-1 crashed":              "5s after redis-1 crashes",
		"client-1 acquired or client-1 resumed": "when client-1 is granted the lock or client-1's pause ends",
		"client-12 paused or client-1 worked":   "when client-12's pause begins or client-1 has worked",
		"client-1's key expired on redis-1":     "when client-1's key expired on redis-1",
		"client-1's keys expired, 2nd time":     "when client-1's keys have expired, 2nd time",
		"1s after client-1 wrote, 3rd time":     "1s after client-1 has written, 3rd time",
		"after client-1 write":                  "after client-1 write",
	} {
		p, err := trace.ParsePoint(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := presentPhrase(p); got != want {
			t.Errorf("%s is said as %q, want %q", text, got, want)
		}
	}
}

// isNoAnswer is for questions whose answer is no time.
func isNoAnswer(time.Duration) bool { return false }

// A time that is itself an answer is only compared with the TTL.
func TestSettingForAQuestionHidesAnswers(t *testing.T) {
	s, err := scenarios.Parse("answers.yaml", []byte(`
title: Times that are answers
lock: {kind: single, ttl: 10s}
clients:
  client-1: {works-until: client-2 released}
  client-2: {starts: client-1's keys expired}
  client-3: {starts: client-2 released}
network: {latency: 1ms}
faults:
  - {pause: client-1, before: client-1 read, until: client-2 acquired}
  - {crash: client-3, how: kill, at: 40s}
`))
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.Variants[0].Run(scenarios.RunOptions{Seed: 1}, scenarios.Off)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, row := range DescribeForQuestion(run, 1, func(d time.Duration) bool { return d > 9*time.Second }) {
		texts[string(row.About)] = string(row.Text)
	}
	for about, want := range map[string]string{
		"client-1": "starts immediately, works for at most the TTL",
		"client-3": "starts immediately, but only when some time has passed",
		"fault 1":  "pause client-1, before client-1 read, for longer than the TTL",
		"fault 2":  "crash client-3 (its process is killed), at 40s",
	} {
		if texts[about] != want {
			t.Errorf("the setting of %s is %q, want %q", about, texts[about], want)
		}
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
	rows := DescribeForQuestion(run, 1, isNoAnswer)
	if last := rows[len(rows)-1]; last.Text != "crash client-2, when client-2 failed to acquire, 9th time" {
		t.Errorf("the fault is described as %q", last.Text)
	}
}
