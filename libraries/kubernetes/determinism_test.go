package kubernetes_test

import (
	"flag"
	"testing"

	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/scenarios"
)

var repeats = flag.Int("repeats", 5, "how often TestDeterminism repeats each run; with other locks than the scenario's own a tenth as often, but at least once; -short repeats it once, with its own lock alone")

// Every scenario that is run with these locks has the same trace in each run.
func TestDeterminism(t *testing.T) {
	suites.CheckDeterminism(t, *repeats, suites.OfAdapter("kubernetes"))
}

// The timeout of a request is half of the renew deadline. Two requests that time out can
// end exactly at the deadline. Then the elector may or may not notice the deadline before
// it sends the next request.
func TestDeadlineAndTimeoutAtTheSameTime(t *testing.T) {
	s, err := scenarios.Parse("together.yaml", []byte(`
title: A request times out as the renew deadline passes
lock: {kind: kubernetes, ttl: 5s}
clients: {client-1: {works: 7s}, client-2: {}}
faults: [{after: client-1 read, pause: kubernetes-1, for: 9s}]
`))
	if err != nil {
		t.Fatal(err)
	}
	config, err := s.Variants[0].Config(scenarios.Options{Seed: 1, Fencing: scenarios.Off})
	if err != nil {
		t.Fatal(err)
	}
	simtest.Repeat(t, config, 50)
}
