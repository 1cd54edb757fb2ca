package scenarios_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/servers/redis"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

const threeClients = `
title: three clients
lock: {kind: redlock, ttl: 10s}
nodes: {redis-4: {persistence: always}}
clients:
  client-1: {works: 1s}
  client-2: {starts: client-1 acquired}
  client-3: {starts: client-2 finished, works-until: client-1 released}
faults:
  - {pause: client-1, before: client-1 write, for: 1s}
`

func parseVariant(t *testing.T, text string) *scenarios.Variant {
	t.Helper()
	s, err := scenarios.Parse("crowd.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.Variants[0]
}

// clientsOf returns the names of the clients, in order.
func clientsOf(c sim.Config) []string {
	var names []string
	for _, client := range c.Clients {
		names = append(names, client.Name)
	}
	return names
}

// A changed variant gives the same world as a file into which the change was written by
// hand. The variant itself does not change.
func TestChange(t *testing.T) {
	at := trace.AnyOf(trace.Alternative{Delay: 2 * time.Second, Happening: trace.Start{}})
	changes := map[string]scenarios.Change{
		"no change":                 {},
		"four nodes":                {Nodes: 4},
		"two clients":               {Clients: []string{"client-1", "client-2"}},
		"another start of a client": {Starts: map[string]trace.Point{"client-2": at}},
		"another start of a client that is left out":   {Clients: []string{"client-1"}, Starts: map[string]trace.Point{"client-2": at}},
		"another start of all clients, and four nodes": {Nodes: 4, Starts: map[string]trace.Point{"client-1": at, "client-2": at, "client-3": at}},
	}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		c := changes[name]
		t.Run(name, func(t *testing.T) {
			v := parseVariant(t, threeClients)
			before := v.Document().Bytes()
			changed, err := v.WithChange(c)
			if err != nil {
				t.Fatal(err)
			}
			written := parseVariant(t, string(changed.Document().Bytes()))
			if is, want := hashOf(t, changed), hashOf(t, written); is != want {
				t.Errorf("the changed variant gives another world than its text:\n%s", changed.Document().Bytes())
			}
			if is := hashOf(t, changed) == hashOf(t, v); is != c.IsZero() {
				t.Errorf("the change leaves the world the same: %v, want %v", is, c.IsZero())
			}
			config, err := changed.Config(scenarios.Options{Fencing: scenarios.Off})
			if err != nil {
				t.Fatal(err)
			}
			if c.Clients != nil && !slices.Equal(clientsOf(config), c.Clients) {
				t.Errorf("the clients are %v, want %v", clientsOf(config), c.Clients)
			}
			if c.Nodes > 0 && len(config.Nodes) != c.Nodes {
				t.Errorf("there are %d nodes, want %d", len(config.Nodes), c.Nodes)
			}
			if after := v.Document().Bytes(); !bytes.Equal(before, after) {
				t.Errorf("the variant itself has become\n%s", after)
			}
		})
	}
}

// A second change is made in addition to the first.
func TestSecondChange(t *testing.T) {
	v := parseVariant(t, threeClients)
	first, err := v.WithChange(scenarios.Change{Nodes: 4})
	if err != nil {
		t.Fatal(err)
	}
	both, err := first.WithChange(scenarios.Change{Clients: []string{"client-1"}})
	if err != nil {
		t.Fatal(err)
	}
	text := string(both.Document().Bytes())
	if !strings.Contains(text, "nodes: 4") || strings.Contains(text, "client-2") {
		t.Errorf("the text does not have both changes:\n%s", text)
	}
	if hashOf(t, both) != hashOf(t, parseVariant(t, text)) {
		t.Error("the variant with both changes gives another world than its text")
	}
}

// A change of persistence is in the world and in the text of the document.
func TestChangeOfPersistence(t *testing.T) {
	v, err := parseVariant(t, threeClients).WithChange(scenarios.Change{Persistence: map[string]sim.Persistence{"redis-1": redis.Always, "redis-4": redis.Everysec}})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []*scenarios.Variant{v, parseVariant(t, string(v.Document().Bytes()))} {
		config, err := v.Config(scenarios.Options{Fencing: scenarios.Off})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range config.Nodes {
			want := sim.NoPersistence
			switch n.Name {
			case "redis-1":
				want = redis.Always
			case "redis-4":
				want = redis.Everysec
			}
			if n.Persistence != want {
				t.Errorf("%s has the persistence %s, want %s", n.Name, n.Persistence, want)
			}
		}
	}
}

// A change is refused if Parse would refuse the changed scenario.
func TestChangeRefused(t *testing.T) {
	for _, test := range []struct {
		change scenarios.Change
		want   string
	}{
		{scenarios.Change{Nodes: 3}, "nodes.redis-4: the lock has no node of this name"},
		{scenarios.Change{Persistence: map[string]sim.Persistence{"redis-9": redis.Always}}, "nodes.redis-9: the lock has no node of this name"},
		{scenarios.Change{Nodes: 102}, "lock.nodes: a lock cannot have 102 nodes"},
		{scenarios.Change{Clients: []string{"client-1", "client-3"}}, `clients.client-3.starts: no client is called "client-2"`},
		{scenarios.Change{Clients: []string{"client-2"}}, `clients.client-2.starts: no client is called "client-1"`},
		{scenarios.Change{Clients: []string{}}, "clients: there must be at least one client"},
		{scenarios.Change{Starts: map[string]trace.Point{"client-2": trace.At(trace.Action{Process: "client-2", Verb: trace.Acquired})}}, "waits for itself"},
	} {
		_, err := parseVariant(t, threeClients).WithChange(test.change)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: the error is %v, want %q", test.change, err, test.want)
		}
	}
}

// A variant that was not read from a file cannot be changed. A trace that was saved without
// its scenario has such a variant.
func TestChangeWithoutAFile(t *testing.T) {
	v := &scenarios.Variant{Scenario: "alone"}
	if _, err := v.WithChange(scenarios.Change{Nodes: 3}); err == nil || !strings.Contains(err.Error(), "alone was not read from a scenario file") {
		t.Errorf("the error is %v, want that the variant was not read from a file", err)
	}
}

// hashOf returns the hash of a run without fencing tokens.
func hashOf(t *testing.T, v *scenarios.Variant) string {
	t.Helper()
	config, err := v.Config(scenarios.Options{Seed: 1, Fencing: scenarios.Off})
	if err != nil {
		t.Fatal(err)
	}
	return hashOfConfig(t, config)
}

func hashOfConfig(t *testing.T, config sim.Config) string {
	t.Helper()
	tr, err := sim.Run(config)
	if err != nil {
		t.Fatal(err)
	}
	return tr.Hash()
}
