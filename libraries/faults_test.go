package libraries_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// faultsOnNodes are the faults that can strike a node or a message to it, each in every
// manner that is written as a field of its own. NODE represents the name of the first node.
var faultsOnNodes = map[string][]string{
	"pause":      {"pause: NODE, for: 2s"},
	"jump":       {"jump: NODE, by: 31s", "jump: NODE, by: -31s"},
	"drift":      {"drift: NODE, rate: +2%, for: 5s"},
	"partition":  {"partition: NODE, from: [client-1], for: 2s", "partition: NODE, from: [client-1], direction: to, for: 2s"},
	"delay":      {"delay: NODE, to: client-1, by: 1s, for: 2s"},
	"reset":      {"reset: client-1, from: NODE"},
	"hold":       {"hold: NODE's reply to client-1's release, for: 1s"},
	"fail":       {"fail: NODE, for: 2s"},
	"crash":      {"crash: NODE, for: 2s", "crash: NODE, how: power-loss, for: 2s", "crash: NODE, how: shutdown, for: 2s", "crash: NODE, how: failover"},
	"promote":    {"promote: NODE"},
	"demote":     {"demote: NODE"},
	"disk-stall": {"disk-stall: NODE, for: 2s"},
	"revoke":     {"revoke: client-1", "revoke: client-1, how: session"},
}

// faultsOnClients are the faults that strike only a client.
var faultsOnClients = []string{"cancel", "stall"}

// refusals are the error messages for faults that a kind of server cannot have. If system
// is "", no kind of server can.
var refusals = []struct{ fault, system, sentence string }{
	{"crash: NODE, how: failover", "", "has no copy that could take over"},
	{"promote: NODE", "", "is not a replica"},
	{"demote: NODE", "", "has no replica that could take its place"},
	{"disk-stall: NODE, for: 2s", "redis", "the node does not notice, because it writes nothing to disk"},
	{"disk-stall: NODE, for: 2s", "consul", "the node continues or stops; if it stops, use a pause of the node instead"},
	{"disk-stall: NODE, for: 2s", "kubernetes", "the node continues or stops; if it stops, use a pause of the node instead"},
	{"disk-stall: NODE, for: 2s", "postgres", "the node continues or stops; if it stops, use a pause of the node instead"},
	{"disk-stall: NODE, for: 2s", "sqlite", "the node continues or stops; if it stops, use a pause of the node instead"},
	{"revoke: client-1", "sqlite", "which opens the file; let the client crash"},
	{"revoke: client-1, how: session", "sqlite", "which opens the file; let the client crash"},
	{"revoke: client-1, how: session", "redis", "a Redis node keeps no sessions"},
	{"revoke: client-1, how: session", "kubernetes", "an API server of Kubernetes keeps no sessions"},
	{"disk-stall: NODE, for: 2s", "zookeeper", "which is not simulated: pause it, or cut it off"},
}

// On each kind of server, each fault either happens or is refused with an error. No fault
// is ignored silently, and every world ends normally.
func TestEveryFaultOnEverySystem(t *testing.T) {
	var listed []string
	for name := range faultsOnNodes {
		listed = append(listed, name)
	}
	for _, k := range sim.FaultKinds() {
		if !slices.Contains(listed, k.Name) && !slices.Contains(faultsOnClients, k.Name) {
			t.Errorf("the fault %s is tried on no server", k.Name)
		}
	}
	for _, on := range []struct{ lock, system string }{
		{"single", "redis"}, {"etcd", "etcd"}, {"zookeeper", "zookeeper"}, {"consul", "consul"},
		{"postgres-lease", "postgres"}, {"sqlite-lease", "sqlite"}, {"kubernetes", "kubernetes"},
	} {
		for kind, faults := range faultsOnNodes {
			for _, fault := range faults {
				t.Run(on.system+" "+strings.ReplaceAll(fault, " ", "-"), func(t *testing.T) {
					want := ""
					for _, r := range refusals {
						if r.fault == fault && (r.system == "" || r.system == on.system) {
							want = r.sentence
						}
					}
					clause := strings.ReplaceAll(fault, "NODE", on.system+"-1")
					tr, err := runWithFault(on.lock, clause)
					switch {
					case want == "" && err != nil:
						t.Fatalf("%s: %v", clause, err)
					case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
						t.Fatalf("%s: %v, want a refusal that says %q", clause, err, want)
					case want != "":
						return
					}
					if !slices.ContainsFunc(tr.Events, func(ev trace.Event) bool { return ev.Fault == 1 }) {
						t.Errorf("%s (%s): the trace has no event of the fault", clause, kind)
					}
				})
			}
		}
	}
}

// runWithFault runs a world with two clients, of which the second wants the lock after the
// first. The fault strikes while the first client works.
func runWithFault(lock, fault string) (*trace.Trace, error) {
	s, err := scenarios.Parse("fault.yaml", fmt.Appendf(nil, `
title: A fault on a server
lock: {kind: %s, ttl: 10s}
clients:
  client-1: {works: 5s}
  client-2: {starts: client-1 acquired}
faults:
  - {after: client-1 read, %s}
`, lock, fault))
	if err != nil {
		return nil, err
	}
	r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
	if err != nil {
		return nil, err
	}
	return r.Runs[0].History.Trace, nil
}
