package simtest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// SectionsWorld returns a world with one lock on one node, in which the given clients
// acquire the lock, work in critical sections and release it.
func SectionsWorld(kind locks.Kind, clients ...sim.Client) sim.Config {
	for i := range clients {
		if clients[i].RetryEvery == 0 {
			clients[i].RetryEvery = time.Second
		}
	}
	return sim.Config{
		Name: "sections", Seed: 1, Horizon: 5 * time.Minute,
		Network: sim.Network{Min: Hop, Max: Hop},
		Lock:    sim.Lock{Kind: kind, Key: "resource", TTL: 30 * time.Second},
		Nodes:   Nodes(kind.System, 1),
		Clients: clients,
	}
}

// GCPauseWorld returns a world of [SectionsWorld] with two clients. The first is paused
// just before it writes, until the second has finished, which acquires and releases the
// lock meanwhile.
func GCPauseWorld(t testing.TB, kind string, ttl time.Duration, fencing storage.Policy) sim.Config {
	cfg := SectionsWorld(Lock(t, kind), sim.Client{Name: "client-1"}, sim.Client{Name: "client-2", Starts: Point("client-1 acquired")})
	cfg.Lock.TTL = ttl
	cfg.Network = sim.Network{Min: 200 * time.Microsecond, Max: time.Millisecond}
	cfg.Storage.Fencing = fencing
	return WithFaults(cfg, Until("client-2 finished", Before("client-1 write", PauseOf("client-1"))))
}

// SoloWorld returns a world of [SectionsWorld] with one client that runs a program. An
// error of the program fails the test.
func SoloWorld(t *testing.T, kind locks.Kind, program func(context.Context, *sim.Program) error) sim.Config {
	return SectionsWorld(kind, Client(t, "client-1", program))
}

// Nodes returns n nodes of a kind of server, with their usual names. It returns none if the
// kind is unknown.
func Nodes(kind string, n int) (nodes []sim.Node) {
	if system, ok := sim.LookupSystem(kind); ok {
		for i := range n {
			nodes = append(nodes, sim.Node{Name: system.NodeName(i), System: kind})
		}
	}
	return nodes
}

// Lock returns the kind of lock called name. The test fails if there is none.
func Lock(t testing.TB, name string) locks.Kind {
	t.Helper()
	kind, ok := locks.Lookup(name)
	if !ok {
		t.Fatalf("there is no lock called %s", name)
	}
	return kind
}

// Tasks parses what a client does in a section, one task from each text, such as "write x".
func Tasks(tasks ...string) []trace.Task {
	var all []trace.Task
	for _, text := range tasks {
		task, err := trace.ParseTask(text)
		if err != nil {
			panic(err)
		}
		all = append(all, task)
	}
	return all
}

// Steps lists the steps that a client ended, and says which of them failed.
func Steps(tr *trace.Trace, client string) string {
	var list []string
	for _, ev := range Events(tr, trace.KindEnd, client) {
		step := string(ev.Step)
		if ev.Object != "" {
			step += " " + ev.Object
		}
		if !ev.OK {
			step += " failed"
		}
		list = append(list, step)
	}
	return strings.Join(list, ", ")
}

// Cancels lists the calls of the lock that a client cancelled, each with its section.
func Cancels(tr *trace.Trace, client string) string {
	var list []string
	for _, ev := range Events(tr, trace.KindCancel, client) {
		list = append(list, fmt.Sprint(ev.Step, " ", ev.Section))
	}
	return strings.Join(list, ", ")
}

// StorageOps lists the requests that the storage served: the step, the object, the client,
// the service that passed the request on, if any, and the token.
func StorageOps(tr *trace.Trace) string {
	var list []string
	for _, ev := range tr.Events {
		if ev.Kind != trace.KindServe {
			continue
		}
		what := fmt.Sprintf("%s %s for %s", ev.Step, ev.Object, ev.Client())
		if ev.Peer != ev.Client() {
			what += " by " + ev.Peer
		}
		if ev.Token != 0 {
			what += fmt.Sprintf(" (%d)", ev.Token)
		}
		if !ev.OK {
			what += " refused"
		}
		list = append(list, what)
	}
	return strings.Join(list, ", ")
}

// KeyHistory lists the events about the keys on a node, each with the section in which the
// key had been set.
func KeyHistory(tr *trace.Trace, node string) string {
	var list []string
	for _, ev := range tr.Events {
		switch ev.Kind {
		case trace.KindSet, trace.KindTouch, trace.KindDelete, trace.KindExpire:
			if ev.Process == node {
				list = append(list, fmt.Sprint(ev.Kind, " ", ev.Owner.Section))
			}
		}
	}
	return strings.Join(list, ", ")
}

// Violations lists the properties that a run violates, each with its blame. It leaves out
// violations that do not count (see [checks.Finding.Counts]).
func Violations(tr *trace.Trace) string {
	var list []string
	for _, f := range checks.Check(history.New(tr), nil).Findings {
		if f.Counts() {
			list = append(list, strings.TrimSpace(fmt.Sprint(f.Property, " ", f.Blame)))
		}
	}
	return strings.Join(list, ", ")
}
