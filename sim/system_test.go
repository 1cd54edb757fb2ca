package sim_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// The system of a node is the one that the node names, or else that of its master, or else
// that of the lock. A node whose configuration its system does not allow is refused, and
// the error says why.
func TestCheckNodes(t *testing.T) {
	for _, test := range []struct {
		name  string
		nodes []sim.Node
		lock  locks.Kind
		why   string // why the node is refused; "" if it is allowed
	}{
		{"it says", Nodes("toy", 1), locks.Kind{}, ""},
		{"its lock says", []sim.Node{{Name: "toy-1"}}, ToyLock, ""},
		{"nobody says", []sim.Node{{Name: "toy-1"}}, locks.Kind{}, "the kind of server of toy-1 is not given"},
		{"there is no such kind", []sim.Node{{Name: "abacus-1", System: "abacus"}}, ToyLock,
			`abacus-1 is a server of the kind "abacus", which this program does not have: it has bard, council, listener, scribe, toy`},
		{"a toy has no disk", []sim.Node{{Name: "toy-1", System: "toy", Persistence: "always"}}, ToyLock,
			"toy-1 cannot have persistence always: a toy has no disk"},
		{"a toy has no replica", []sim.Node{{Name: "toy-1"}, {Name: "toy-2", ReplicaOf: "toy-1"}}, ToyLock,
			"toy-2 is a replica of toy-1, but a toy cannot be a replica"},
		// The system of toy-2 is that of its master, not that of the lock.
		{"nor has one that says so for both", []sim.Node{{Name: "toy-1", System: "toy"}, {Name: "toy-2", ReplicaOf: "toy-1"}}, locks.Kind{System: "abacus"},
			"toy-2 is a replica of toy-1, but a toy cannot be a replica"},
	} {
		cfg := sim.Config{Nodes: test.nodes, Lock: sim.Lock{Kind: test.lock}}
		why := ""
		if err := cfg.CheckNodes(); err != nil {
			why = err.Error()
		}
		Equal(t, test.name, why, test.why)
	}
	cfg := sim.Config{Nodes: Nodes("toy", 1), Lock: sim.Lock{Kind: ToyLock}, Tokens: sim.Tokens{Source: ToyTokens}}
	Equal(t, "tokens are counted on toys", cfg.CheckNodes(), nil)
	cfg.Tokens.Source.System = "abacus"
	if err := cfg.CheckNodes(); err == nil || !strings.Contains(err.Error(), "counts on nodes of the kind abacus, but toy-1 is a toy") {
		t.Errorf("tokens that are counted on another kind: %v", err)
	}
}

// Whether a server loses data in a crash depends on what it writes to its disk.
func TestDisks(t *testing.T) {
	paper := sim.System{Disks: []sim.Disk{{Persistence: sim.NoPersistence}, {Persistence: "paper", Keeps: []trace.Crash{trace.PowerLoss}}}}
	for _, test := range []struct {
		disk  sim.Persistence
		how   trace.Crash
		keeps bool
	}{
		{"paper", trace.PowerLoss, true},
		{"paper", trace.Kill, false},
		{sim.NoPersistence, trace.PowerLoss, false},
		{"stone", trace.PowerLoss, false},
	} {
		Equal(t, string(test.disk)+" after "+string(test.how), paper.Keeps(test.disk, test.how), test.keeps)
	}
}

// Two kinds of servers must not have the same name.
func TestRegisterSystemTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a second kind called toy was registered")
		}
	}()
	sim.RegisterSystem(sim.System{Name: "toy"})
}

// A system without an implementation is known, but a world with such a node is refused.
func TestServersThatNobodyPlays(t *testing.T) {
	cfg := sim.Config{Horizon: time.Second, Network: sim.Network{Min: 1, Max: 1}, Nodes: []sim.Node{{Name: "sundial-1", System: "sundial"}}}
	if err := cfg.CheckNodes(); err != nil {
		t.Error(err)
	}
	_, err := sim.Run(cfg)
	if missing := new(sim.MissingSystem); !errors.As(err, &missing) || missing.System != "sundial" {
		t.Errorf("a world with a sundial: %v", err)
	}
	for name, of := range map[string]string{"toy": "is played already", "abacus": "is not known"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s %s, and can be provided", name, of)
				}
			}()
			sim.ProvideSystem(name, nil, nil)
		}()
	}
}
