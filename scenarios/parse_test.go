package scenarios

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/servers/redis"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// mustParse parses a scenario file called stories/x.yaml.
func mustParse(t testing.TB, text string) *Scenario {
	t.Helper()
	s, err := Parse("stories/x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// mustConfig returns the world of a variant.
func mustConfig(t testing.TB, v *Variant, o Options) sim.Config {
	t.Helper()
	c, err := v.Config(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// If a file leaves a field out, the field has the default that the documentation gives.
func TestDefaults(t *testing.T) {
	s := mustParse(t, "title: t\nlock: {kind: redlock, ttl: 30s}\nclients: {client-1: {}}\n")
	if s.Name != "x" || s.File != "stories/x.yaml" || len(s.Variants) != 1 || s.Variants[0].Name != "" {
		t.Errorf("the scenario is %+v", s)
	}
	c := mustConfig(t, s.Variants[0], Options{Seed: 7, Fencing: On})
	if c.Name != "x" || c.Seed != 7 || c.Lock.Key != "resource" || c.Lock.TTL != 30*time.Second {
		t.Errorf("the world has the name %q, the seed %d, the key %q and the TTL %v", c.Name, c.Seed, c.Lock.Key, c.Lock.TTL)
	}
	if !reflect.DeepEqual(c.Network, sim.Network{Min: 600 * time.Microsecond, Max: time.Millisecond}) || c.Horizon != 5*time.Minute {
		t.Errorf("the network is %v and the horizon %v", c.Network, c.Horizon)
	}
	if c.Storage.Fencing != storage.Writes {
		t.Errorf("with fencing the storage checks %s, want writes", c.Storage.Fencing)
	}
	if got := nodeNames(c); got != "redis-1 redis-2 redis-3 redis-4 redis-5" {
		t.Errorf("the nodes are %s", got)
	}
	if n := c.Nodes[0]; n.Persistence != sim.NoPersistence {
		t.Errorf("the nodes have the persistence %s, want none", n.Persistence)
	}
	if got := c.Clients[0]; got.Sections != 1 || got.Attempts != 0 || got.RetryEvery != time.Second || !got.Starts.IsZero() {
		t.Errorf("the client is %+v", got)
	}
	if off := mustConfig(t, s.Variants[0], Options{Fencing: Off}); off.Storage.Fencing != storage.None {
		t.Errorf("without fencing the storage checks %s, want nothing", off.Storage.Fencing)
	}
}

func nodeNames(c sim.Config) string {
	var names []string
	for _, n := range c.Nodes {
		names = append(names, n.Name)
	}
	return strings.Join(names, " ")
}

// Every field of a file has an effect on the world.
func TestEveryField(t *testing.T) {
	s := mustParse(t, `
title: t
group: fencing
source: s
assumption: storage memory
story: a story
lesson: a lesson
lock: {kind: redlock, ttl: 10s, nodes: 3, key: k, ask: all-at-once, clock: wall, node-timeout: 50ms, without: [elapsed-check]}
nodes:
  redis-4: {replica-of: redis-1, lag: 200ms}
  redis-2: {persistence: everysec}
clients:
  b: {}
  a: {starts: b acquired, sections: 2, attempts: 3, retry-every: 500ms, retry: jitter, key: other, works: 1s, works-until: b wrote, extends-every: 2s, cancels: b released, cancels-after: 75s, gives-up: 5s, if-no-answer: resends, if-refused: starts-over, does: [work, write y via proxy and b2]}
services:
  proxy: {}
  b2: {drops-token: true}
tokens: {source: incr, nodes: [counter]}
storage: {fencing: reads-and-writes, copy-lag: 2s}
network:
  latency: 1ms-1500us
  paths:
    - {from: a, to: [redis-2, storage], latency: 20ms}
faults:
  - at: 5s
    pause: a
    mode: suspend
    for: 10s
  - before: a write, 2nd time
    pause: b
    until: a finished
  - after: a write
    pause: redis-1
  - when: b wrote
    pause: redis-2
  - after: b wrote
    pause: redis-3
  - hold: a's acquire request to redis-2, 3rd time
  - fail: redis-1
    with: "ERR out of order"
    for: 5s
horizon: 1m
progress-within: 20s
witnesses: [a paused]
`)
	if s.Group != "fencing" || s.Source != "s" || s.Assumption != "storage memory" || s.Story != "a story" || s.Lesson != "a lesson" {
		t.Errorf("the scenario is %+v", s)
	}
	v := s.Variants[0]
	if v.Lock != "redlock" || len(v.Witnesses) != 1 || v.Witnesses[0].String() != "a paused" {
		t.Errorf("the lock is %s and the witnesses are %v", v.Lock, v.Witnesses)
	}
	c := mustConfig(t, v, Options{Fencing: On})
	o := c.Lock.Options
	if c.Lock.Key != "k" || c.Lock.TTL != 10*time.Second || o.Ask != locks.AllAtOnce || o.Clock != "wall" || o.NodeTimeout != 50*time.Millisecond || o.Has("elapsed-check") {
		t.Errorf("the lock is %+v", c.Lock)
	}
	if got := nodeNames(c); got != "redis-1 redis-2 redis-3 redis-4 counter" {
		t.Errorf("the nodes are %s", got)
	}
	if n := c.Nodes[3]; n.ReplicaOf != "redis-1" || n.Lag != 200*time.Millisecond || c.Nodes[1].Persistence != redis.Everysec {
		t.Errorf("the nodes are %+v", c.Nodes)
	}
	if c.Clients[0].Name != "b" {
		t.Errorf("the clients are not in the order of the file: %v", c.Clients)
	}
	a := c.Clients[1]
	if a.Starts.String() != "b acquired" || a.Sections != 2 || a.Attempts != 3 || a.RetryEvery != 500*time.Millisecond ||
		a.Works != time.Second || a.WorksUntil.String() != "b wrote" || a.ExtendsEvery != 2*time.Second || a.GivesUp != 5*time.Second || a.CancelsAfter != 75*time.Second || a.Cancels.String() != "b released" || !a.StartsOver || !a.Resends ||
		a.Retry != locks.Jitter || a.Key != "other" || !reflect.DeepEqual(a.Does, []trace.Task{{Step: trace.Work}, {Step: trace.Write, Object: "y", Via: []string{"proxy", "b2"}}}) {
		t.Errorf("client a is %+v", a)
	}
	far := sim.Path{Between: "a", And: "redis-2", Min: 20 * time.Millisecond, Max: 20 * time.Millisecond}
	farther := far
	farther.And = "storage"
	if want := (sim.Network{Min: time.Millisecond, Max: 1500 * time.Microsecond, Paths: []sim.Path{far, farther}}); !reflect.DeepEqual(c.Network, want) {
		t.Errorf("the network is %v, want %v", c.Network, want)
	}
	if c.Storage != (sim.Storage{Fencing: storage.ReadsAndWrites, CopyLag: 2 * time.Second}) {
		t.Errorf("the storage is %v", c.Storage)
	}
	if !reflect.DeepEqual(c.Services, []sim.Service{{Name: "proxy"}, {Name: "b2", DropsToken: true}}) {
		t.Errorf("the services are %v", c.Services)
	}
	if c.Tokens.Source.Name != "incr" || !slices.Equal(c.Tokens.Nodes, []string{"counter"}) || !c.Nodes[4].CountersOnly || c.Nodes[3].CountersOnly {
		t.Errorf("the tokens are %v, and the nodes %v", c.Tokens, c.Nodes)
	}
	if c.Horizon != time.Minute || c.ProgressWithin != 20*time.Second {
		t.Errorf("the horizon is %v, and progress is required within %v", c.Horizon, c.ProgressWithin)
	}
	f := c.Faults
	if len(f) != 7 {
		t.Fatalf("there are %d faults, want 7", len(f))
	}
	if f[0].Strikes.At != 5*time.Second || f[0].For != 10*time.Second || f[0].Text != "pause a, mode suspend" {
		t.Errorf("fault 1 is %+v", f[0])
	}
	if f[1].Strikes.Before != (trace.StepPoint{Client: "a", Step: trace.Write, Nth: 2}) || f[1].Until.String() != "a finished" {
		t.Errorf("fault 2 is %+v", f[1])
	}
	if hold, ok := f[5].Action.(*sim.Hold); !ok || hold.Message.String() != "a's acquire request to redis-2, 3rd time" {
		t.Errorf("fault 6 is %+v", f[5])
	}
	if fail, ok := f[6].Action.(*sim.Fail); !ok || *fail != (sim.Fail{Node: "redis-1", With: "ERR out of order"}) || f[6].Text != "fail redis-1, with ERR out of order" {
		t.Errorf("fault 7 is %+v", f[6])
	}
	for i, want := range map[int]string{2: "after a write", 3: "b wrote", 4: "b wrote"} {
		if got := f[i].Strikes.When.String(); got != want {
			t.Errorf("fault %d strikes at %q, want %q", i+1, got, want)
		}
	}
}

// A variant is merged into its file: mappings key by key, while its lists replace those of
// the file.
func TestVariants(t *testing.T) {
	s := mustParse(t, `
title: base
story: the story
lock: {kind: redlock, ttl: 30s}
clients:
  client-1: {works: 1s}
faults:
  - pause: redis-1
  - pause: redis-2
variants:
  longer:
    title: longer
    clients:
      client-1: {gives-up: 2s}
      client-2: {}
    faults:
      - pause: redis-3
  plain: {}
`)
	if s.Title != "base" || len(s.Variants) != 2 {
		t.Fatalf("the scenario is %+v", s)
	}
	longer, plain := s.Variants[0], s.Variants[1]
	if longer.Name != "longer" || longer.Title != "longer" || longer.Story != "the story" || longer.Scenario != "x" {
		t.Errorf("the first variant is %+v", longer)
	}
	c := mustConfig(t, longer, Options{Fencing: Off})
	if c.Variant != "longer" || len(c.Clients) != 2 || c.Clients[0].Works != time.Second || c.Clients[0].GivesUp != 2*time.Second {
		t.Errorf("the clients of the first variant are %+v", c.Clients)
	}
	if len(c.Faults) != 1 || c.Faults[0].Text != "pause redis-3" {
		t.Errorf("the faults of the first variant are %+v", c.Faults)
	}
	if c := mustConfig(t, plain, Options{Fencing: Off}); len(c.Clients) != 1 || c.Clients[0].GivesUp != 0 || len(c.Faults) != 2 || plain.Title != "base" {
		t.Errorf("the second variant is %+v", c)
	}
}

// A lock that replaces the scenario's own gets the TTL, the key and the nodes. It does not
// get options that its kind does not accept.
func TestAnotherLock(t *testing.T) {
	s := mustParse(t, "title: t\nlock: {kind: redlock, ttl: 3s, nodes: 7, key: k, ask: all-at-once, clock: wall, node-timeout: 50ms, without: [elapsed-check]}\nclients: {client-1: {}}\n")
	c := mustConfig(t, s.Variants[0], Options{Lock: "redsync", Fencing: Off})
	if c.Lock.Kind.Name != "redsync" || c.Lock.TTL != 3*time.Second || c.Lock.Key != "k" || len(c.Nodes) != 7 {
		t.Errorf("the lock is %+v on %d nodes", c.Lock, len(c.Nodes))
	}
	accepts := func(option string) bool { return slices.Contains(c.Lock.Kind.Accepts, option) }
	if o := c.Lock.Options; o.Ask != "" && !accepts("ask") || o.Clock != "" && !accepts("clock") || o.NodeTimeout != 0 && !accepts("node-timeout") || len(o.Without) > 0 {
		t.Errorf("the options of the lock are %+v, want only those that its kind accepts", o)
	}
	_, err := s.Variants[0].Config(Options{Lock: "redsink", Fencing: Off})
	if want := `no lock is called "redsink"; did you mean "redsync"?`; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

// A lock that uses one node has one node by default.
func TestNodesOfASingleInstanceLock(t *testing.T) {
	s := mustParse(t, "title: t\nlock: {kind: single, ttl: 3s}\nclients: {client-1: {}}\n")
	if c := mustConfig(t, s.Variants[0], Options{Fencing: Off}); nodeNames(c) != "redis-1" {
		t.Errorf("the nodes are %s", nodeNames(c))
	}
}

func TestFencingMustBeOffOrOn(t *testing.T) {
	s := mustParse(t, simtest.GoodScenario)
	_, err := s.Variants[0].Config(Options{Fencing: "yes"})
	if want := `fencing is "yes"; it must be "off" or "on"`; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}
