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
		{"the node names its system", Nodes("toy", 1), locks.Kind{}, ""},
		{"the lock names the system", []sim.Node{{Name: "toy-1"}}, ToyLock, ""},
		{"neither the node nor the lock names a system", []sim.Node{{Name: "toy-1"}}, locks.Kind{}, "the kind of server of toy-1 is not given"},
		{"the node names an unknown system", []sim.Node{{Name: "abacus-1", System: "abacus"}}, ToyLock,
			`abacus-1 is a server of the kind "abacus", which this program does not have: it has bard, council, listener, scribe, toy`},
		{"a toy with a disk", []sim.Node{{Name: "toy-1", System: "toy", Persistence: "always"}}, ToyLock,
			"toy-1 cannot have persistence always: a toy has no disk"},
		{"a replica of a toy", []sim.Node{{Name: "toy-1"}, {Name: "toy-2", ReplicaOf: "toy-1"}}, ToyLock,
			"toy-2 is a replica of toy-1, but a toy cannot be a replica"},
		// The system of toy-2 is that of its master, not that of the lock.
		{"a replica of a toy, with a lock of another system", []sim.Node{{Name: "toy-1", System: "toy"}, {Name: "toy-2", ReplicaOf: "toy-1"}}, locks.Kind{System: "abacus"},
			"toy-2 is a replica of toy-1, but a toy cannot be a replica"},
	} {
		cfg := sim.Config{Nodes: test.nodes, Lock: sim.Lock{Kind: test.lock}}
		why := ""
		if err := cfg.CheckNodes(); err != nil {
			why = err.Error()
		}
		Equal(t, test.name+": why the node is refused", why, test.why)
	}
	cfg := sim.Config{Nodes: Nodes("toy", 1), Lock: sim.Lock{Kind: ToyLock}, Tokens: sim.Tokens{Source: ToyTokens}}
	Equal(t, "the error if toys count the tokens", cfg.CheckNodes(), nil)
	cfg.Tokens.Source.System = "abacus"
	if err := cfg.CheckNodes(); err == nil || !strings.Contains(err.Error(), "counts on nodes of the kind abacus, but toy-1 is a toy") {
		t.Errorf("with tokens that only another system counts the error is %v, want one that says so", err)
	}
}

// Whether a server loses data in a crash depends on what it writes to its disk.
func TestDisks(t *testing.T) {
	paper := sim.System{Disks: []sim.Disk{{Persistence: sim.NoPersistence}, {Persistence: "paper", Keeps: []trace.Crash{trace.PowerLoss}}}}
	for _, test := range []struct {
		disk  sim.Persistence
		how   trace.Crash
		keeps bool // whether the data survives
	}{
		{"paper", trace.PowerLoss, true},
		{"paper", trace.Kill, false},
		{sim.NoPersistence, trace.PowerLoss, false},
		{"stone", trace.PowerLoss, false},
	} {
		Equal(t, "persistence "+string(test.disk)+" keeps the data in a crash "+string(test.how), paper.Keeps(test.disk, test.how), test.keeps)
	}
}

// Two kinds of servers must not have the same name.
func TestRegisterSystemTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a second system with the name toy was registered, want a panic")
		}
	}()
	sim.RegisterSystem(sim.System{Name: "toy"})
}

// A system without an implementation is known, but a world with such a node is refused.
func TestSystemWithoutAnImplementation(t *testing.T) {
	cfg := sim.Config{Horizon: time.Second, Network: sim.Network{Min: 1, Max: 1}, Nodes: []sim.Node{{Name: "sundial-1", System: "sundial"}}}
	if err := cfg.CheckNodes(); err != nil {
		t.Error(err)
	}
	_, err := sim.Run(cfg)
	if missing := new(sim.MissingSystem); !errors.As(err, &missing) || missing.System != "sundial" {
		t.Errorf("the error of a world with a sundial is %v, want a MissingSystem", err)
	}
	// An implementation is refused for a system that has one, and for an unknown system.
	for name, why := range map[string]string{"toy": "has an implementation", "abacus": "is unknown"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("the system %s %s, and ProvideSystem accepted another, want a panic", name, why)
				}
			}()
			sim.ProvideSystem(name, nil, nil)
		}()
	}
}
