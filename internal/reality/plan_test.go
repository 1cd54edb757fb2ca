package reality_test

import (
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/reality"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"

	_ "github.com/locksim/locksim/servers/redis"
)

// configOf returns the world of a built-in scenario.
func configOf(t *testing.T, name, variant string) sim.Config {
	t.Helper()
	s, err := scenarios.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if variant != "" {
		if s, err = s.SelectVariant(variant); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := s.Variants[0].Config(scenarios.Options{Fencing: scenarios.Off})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// A scenario that cannot be played on real servers is refused, and the error says which part of
// it cannot be played.
func TestCheck(t *testing.T) {
	for _, c := range []struct{ scenario, variant, want string }{
		{"gc-pause", "", ""},
		{"pause-in-flight", "elapsed-check", ""},
		{"crash-restart-everysec", "process-killed", ""},
		{"release-get-then-del", "", ""},
		{"fencing-volatile-token", "in-memory", ""},

		{"clock-jump", "", "only the clocks of PostgreSQL servers and of clients can be set"},
		{"slow-drift", "", "is of the kind drift, which needs a simulated server or clock"},
		{"crash-restart-always", "", "cuts the power"},
		{"fencing-storage-failover", "", "replaces the storage by a copy"},
		{"failover", "", "is a replica"},
		{"vm-suspend", "", "suspends a machine"},
		{"rpc-chain", "", "has the service"},
		{"scheduled-job", "", "work by a schedule"},
		{"fencing-quorum-counter", "", "fencing tokens come from"},
		{"opposite-order", "", "does acquire b in its section"},
		{"zookeeper-gc-pause", "queue", ""},
		{"zookeeper-stale-read", "own-session", "data is on the lock's own servers"},
	} {
		err := reality.Check(configOf(t, c.scenario, c.variant), false)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.scenario, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: the error is %v, want one with %q", c.scenario, err, c.want)
		}
	}
}

// A power loss is refused for a client, too: when a process is killed, its operating system
// closes its connections.
func TestCheckOfAPowerLoss(t *testing.T) {
	err := reality.Check(worldOf(t, "clients:\n  client-1: {}\nfaults:\n  - {at: 1s, crash: client-1, how: power-loss}\n"), false)
	if err == nil || !strings.Contains(err.Error(), "cuts the power") {
		t.Errorf("the error is %v", err)
	}
}

// Locks on PostgreSQL whose keys a snapshot of the server does not have are refused.
func TestCheckOfPostgres(t *testing.T) {
	for name, want := range map[string]string{
		"postgres-lease": "", "postgres-advisory": "",
		"postgres-row-elsewhere": "keeps the row", "postgres-queue-elsewhere": "keeps the row",
		"goose-table":                 "keeps the row goose_lock/",
		"postgres-lease-client-clock": "ends by the clock of its client",
	} {
		kind, ok := locks.Lookup(name)
		if !ok {
			t.Fatalf("there is no lock %s", name)
		}
		err := reality.Check(sim.Config{Lock: sim.Lock{Kind: kind}}, false)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want one with %q", name, err, want)
		}
	}
}

// Every time of a scenario is shortened in the same proportion: the TTL, a client's times,
// the delay in a point, how long a fault lasts, and the lock's timeout if the scenario sets
// it.
func TestScale(t *testing.T) {
	cfg := configOf(t, "same-holder-cut-off", "gives-up")
	short := reality.Scale(cfg, time.Second)
	for _, c := range []struct {
		what      string
		got, want time.Duration
	}{
		{"the TTL", short.Lock.TTL, time.Second},
		{"the lock's timeout", short.Lock.Options.NodeTimeout, 100 * time.Millisecond},
		{"the work of client-1", short.Clients[0].Works, 2 * time.Second},
		{"the time between its extends", short.Clients[0].ExtendsEvery, 400 * time.Millisecond},
		{"the start of client-3", short.Clients[2].Starts.Alternatives()[0].Delay, 4 * time.Second},
		{"the partition", short.Faults[0].For, 3 * time.Second},
	} {
		if c.got != c.want {
			t.Errorf("%s is %v, want %v", c.what, c.got, c.want)
		}
	}
	if cfg.Lock.TTL != 10*time.Second || cfg.Faults[0].For != 30*time.Second || cfg.Clients[0].Works != 20*time.Second {
		t.Error("the world that was to be shortened has changed itself")
	}
}
