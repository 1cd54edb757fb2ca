package redis_test

import (
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	. "github.com/locksim/locksim/sim/simtest"
	"github.com/locksim/locksim/trace"
)

// A token is minted after the acquire, or where the section says.
func TestTokens(t *testing.T) {
	incr, ok := locks.LookupTokenSource("incr")
	if !ok {
		t.Fatal("there is no token source called incr")
	}
	after := func(client, point1 string, tasks ...string) sim.Client {
		c := sim.Client{Name: client, Does: Does(tasks...)}
		if point1 != "" {
			c.Starts = Point(point1)
		}
		return c
	}
	for _, test := range []struct {
		name    string
		clients []sim.Client
		nodes   []string
		served  string
	}{
		{"on the lock's node", []sim.Client{after("client-1", "", "write x"), after("client-2", "client-1 released", "write x")}, nil,
			"write x for client-1 (1), write x for client-2 (2)"},
		{"on a node of its own", []sim.Client{after("client-1", "", "write x"), after("client-2", "client-1 released", "write x")}, []string{"counter"},
			"write x for client-1 (1), write x for client-2 (2)"},
		{"late", []sim.Client{after("client-1", "", "read x", "mint", "write x")}, nil,
			"read x for client-1, write x for client-1 (1)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := Sections(Lock(t, "single"), test.clients...)
			cfg.Tokens = sim.Tokens{Source: incr, Nodes: test.nodes}
			for _, name := range test.nodes {
				cfg.Nodes = append(cfg.Nodes, sim.Node{Name: name, System: "redis", Apart: true})
			}
			tr := Play(t, cfg)
			Same(t, "served", Served(tr), test.served)
			counts := "redis-1"
			if test.nodes != nil {
				counts = test.nodes[0]
			}
			counted := 0
			for _, ev := range Events(tr, trace.KindSet, counts) {
				if ev.Key == "resource:token" {
					counted++
				}
			}
			Same(t, "real INCRs on "+counts, counted, len(test.clients))
		})
	}
}

// A fault of a node can act if that counts tokens, though no lock is kept on it.
func TestFaultOfACounter(t *testing.T) {
	for _, test := range []struct {
		source string
		nodes  []string
		idle   bool
	}{
		{"quorum-incr", nil, false},
		{"quorum-incr", []string{"redis-1", "redis-2"}, false},
		{"quorum-incr", []string{"redis-1"}, true},
		{"clock", []string{"redis-2"}, true},
		{"clock", nil, true},
	} {
		cfg := Sections(Lock(t, "single"), sim.Client{Name: "client-1"})
		cfg.Nodes = append(cfg.Nodes, sim.Node{Name: "redis-2", System: "redis"})
		source, ok := locks.LookupTokenSource(test.source)
		if !ok {
			t.Fatalf("there is no token source called %s", test.source)
		}
		cfg.Tokens = sim.Tokens{Source: source, Nodes: test.nodes}
		cfg.Faults = []sim.Fault{{Action: &sim.Pause{Process: "redis-2"}, For: time.Second}}
		idle := Play(t, cfg).Faults[0].Idle
		if got := strings.Contains(idle, "keeps nothing on redis-2"); got != test.idle || !test.idle && idle != "" {
			t.Errorf("tokens by %s on %v: the fault did not act: %q", test.source, test.nodes, idle)
		}
	}
}
