package libraries_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/faultcard"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

var (
	random     = flag.Int("random", 300, "how many random scenarios TestRandomScenarios runs; -short runs none")
	randomSeed = flag.Uint64("random-seed", 1, "the seed of the first of them")
)

// TestRandomScenarios tests that a random scenario has the same trace in each run, as
// [suites.CheckDeterminism] tests for the catalogue. Each seed, beginning with the first,
// gives one scenario. The locks take turns, so that a few scenarios already reach every
// system. A run may declare that its replays can differ. Then every run of the scenario
// must declare it, and only few scenarios may. If a scenario fails, the test prints it as a
// file, which locksim run --check-determinism replays.
func TestRandomScenarios(t *testing.T) {
	if testing.Short() {
		t.Skip("-short tests only the scenarios of the catalogue")
	}
	var kinds []locks.Kind
	for _, name := range locks.Names() {
		if k, _ := locks.Lookup(name); suites.Provided(k) {
			kinds = append(kinds, k)
		}
	}
	// In alphabetical order, the locks on one system would come one after the other, and a
	// few scenarios would not reach every system.
	rand.New(rand.NewPCG(0, 0)).Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	byChance := 0
	defer func() {
		if byChance > 1+*random/100 {
			t.Errorf("%d of %d scenarios declare that chance decided something in them, want at most one in a hundred", byChance, *random)
		}
	}()
	for seed := *randomSeed; seed < *randomSeed+uint64(*random); seed++ {
		kind := kinds[seed%uint64(len(kinds))]
		t.Run(fmt.Sprintf("%d/%s", seed, kind.Name), func(t *testing.T) {
			text := randomScenario(t, seed, kind)
			s, err := scenarios.Parse("random.yaml", text)
			if err != nil {
				t.Fatal(err)
			}
			fencing := []string{scenarios.Off, scenarios.On}[seed/uint64(len(kinds))%2]
			config, err := s.Variants[0].Config(scenarios.Options{Seed: seed, Fencing: fencing})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if t.Failed() {
					t.Logf("locksim run random.yaml --seed %d --check-determinism 50, with this file:\n%s", seed, text)
				}
			}()
			if tr := simtest.RunWorld(t, config); simtest.DependsOnChance(tr) {
				if again := simtest.RunWorld(t, config); !simtest.DependsOnChance(again) {
					t.Errorf("one run declares %q, and the next one declares nothing", tr.Doubts)
				}
				byChance++
				return
			}
			simtest.Repeat(t, config, *repeats)
		})
	}
}

// randomScenario returns the scenario of a seed: clients that want a lock of a kind, and up
// to four faults.
func randomScenario(t *testing.T, seed uint64, kind locks.Kind) []byte {
	d := dice{rand.New(rand.NewPCG(seed, 1)), kind}
	for range 100 {
		text := d.workload()
		s, err := scenarios.Parse("random.yaml", text)
		if err != nil {
			continue // this lock does not support all options
		}
		return d.faults(s)
	}
	t.Fatalf("none of a hundred workloads is valid with the lock %s", kind.Name)
	return nil
}

// dice draw the parts of a scenario at random.
type dice struct {
	*rand.Rand
	kind locks.Kind
}

// oneIn returns true once in n times.
func (d dice) oneIn(n int) bool { return d.IntN(n) == 0 }

func pick[T any](d dice, values ...T) T { return values[d.IntN(len(values))] }

// span returns a time of up to max. One in two times is a simple fraction of max, because
// timers with such times are often due at the same moment.
func (d dice) span(max time.Duration) time.Duration {
	if d.oneIn(2) {
		return max / time.Duration(pick(d, 1, 2, 3, 4, 5, 10)) / time.Millisecond * time.Millisecond
	}
	return time.Duration(1+d.Int64N(int64(max/time.Millisecond))) * time.Millisecond
}

// settings are the settings of each kind of server, as a scenario writes them.
var settings = map[string][]string{
	locks.Redis:    {"min-replicas-to-write=1"},
	locks.Etcd:     {"auto-compaction-retention=1", "lessor=3.4.23"},
	locks.Postgres: {"pool_mode=transaction"},
}

// workload returns a scenario without faults. It may be invalid.
func (d dice) workload() []byte {
	ttl := time.Duration(pick(d, 2, 5, 10, 15, 30)) * time.Second
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("title: A random scenario")
	line("lock:\n  kind: %s\n  ttl: %v", d.kind.Name, ttl)
	if d.oneIn(3) {
		line("  nodes: %d", 1+d.IntN(5))
	}
	if len(d.kind.Features) > 0 && d.oneIn(3) {
		line("  without: [%s]", pick(d, d.kind.Features...))
	}
	for _, option := range d.kind.Accepts {
		value := map[string]string{"ask": "all-at-once", "clock": "wall", "holders": "2", "fallback": pick(d, "go-ahead", "local"), "node-timeout": d.span(time.Second).String()}[option]
		if value != "" && d.oneIn(3) {
			line("  %s: %s", option, value)
		}
	}
	if system, ok := sim.LookupSystem(d.kind.System); ok {
		first := system.NodeName(0)
		switch all := system.Persistences(); {
		case system.Replicates && d.oneIn(3):
			line("nodes:\n  replica:\n    replica-of: %s\n    lag: %v", first, d.span(time.Second))
		case len(all) > 1 && d.oneIn(2):
			line("nodes:\n  %s:\n    persistence: %s", first, pick(d, all...))
		}
		if options := settings[system.Name]; len(options) > 0 && d.oneIn(4) {
			line("servers: [%s]", pick(d, options...))
		}
	}
	if d.kind.HasDataClient && d.oneIn(2) {
		line("storage:\n  in: cluster")
	}
	line("clients:")
	for i := range 1 + d.IntN(4) {
		line("  client-%d:\n    works: %v", i+1, d.span(2*ttl))
		if d.oneIn(2) {
			line("    sections: %d", 1+d.IntN(3))
		}
		if d.oneIn(2) {
			line("    attempts: %d", 1+d.IntN(5))
		}
		if d.oneIn(2) {
			line("    retry-every: %v", d.span(2*time.Second))
		}
		if d.oneIn(3) {
			line("    retry: %s", pick(d, "jitter", "exponential", "linear"))
		}
		if d.oneIn(4) {
			line("    cancels-after: %v", d.span(ttl))
		}
		if d.oneIn(4) {
			line("    extends-every: %v", d.span(ttl))
		}
		if d.oneIn(4) {
			line("    gives-up: %v", d.span(ttl))
		}
	}
	line("horizon: 1m30s")
	return []byte(b.String())
}

// faults returns a scenario with up to four valid faults.
func (d dice) faults(s *scenarios.Scenario) []byte {
	v := s.Variants[0]
	config, err := v.Config(scenarios.Options{Fencing: scenarios.On})
	if err != nil {
		return []byte(s.Text)
	}
	doc := v.Document()
	var all []scenarios.Fields
	for want, tries := d.IntN(5), 0; len(all) < want && tries < 50; tries++ {
		f, err := d.fault(config)
		if err != nil {
			continue
		}
		doc.Set("faults", append(slices.Clone(all), scenarios.FaultFields(f)))
		if _, err := scenarios.Parse("random.yaml", doc.Bytes()); err == nil {
			all = append(all, scenarios.FaultFields(f))
		}
	}
	doc.Delete("faults")
	if len(all) > 0 {
		doc.Set("faults", all)
	}
	return doc.Bytes()
}

// fault returns a fault of any kind at any point. It may be invalid.
func (d dice) fault(c sim.Config) (f sim.Fault, err error) {
	kind := pick(d, sim.FaultKinds()...)
	clients, nodes := []string{}, []string{}
	for _, client := range c.Clients {
		clients = append(clients, client.Name)
	}
	for _, n := range c.Nodes {
		nodes = append(nodes, n.Name)
	}
	servers := append(slices.Clone(nodes), trace.StorageName)
	client, server, node := pick(d, clients...), pick(d, servers...), trace.StorageName
	if len(nodes) > 0 {
		node = pick(d, nodes...)
	}
	parts := sim.Parts{Kind: kind.Name, Target: pick(d, client, node, server)}
	f = sim.Fault{Action: kind.New()}
	if _, message := f.Message(); message {
		parts.Target = d.nth(d.message(client, server))
	}
	if f.Others() != nil {
		parts.Others = []string{pick(d, node, server, client)}
	}
	if len(kind.Manners) > 0 {
		if how := pick(d, kind.Manners...).Value; how != faultcard.Negative {
			parts.How = how
		}
	}
	switch size := d.span(2 * c.Lock.TTL); {
	case !kind.HasSize():
	case kind.Effect == trace.DriftsClock:
		parts.Rate = sim.Rate(pick[int64](d, -1, 1) * d.Int64N(500_000_000))
	case kind.Effect == trace.SetsClock && d.oneIn(2):
		parts.By = -size
	default:
		parts.By = size
	}
	if f, err = parts.Fault(); err != nil {
		return f, err
	}
	switch d.IntN(4) {
	case 0:
		f.Strikes.At = d.span(2 * c.Lock.TTL)
	case 1:
		f.Strikes.Before, err = trace.ParseStepPoint(d.nth(client + " " + pick(d, "acquire", "read", "work", "write", "release")))
	case 2:
		f.Strikes.When, err = trace.ParsePoint(d.nth(client + " " + pick(d, "acquired", "read", "worked", "wrote", "released", "failed to acquire")))
	case 3:
		f.Strikes.When, err = trace.ParsePoint(d.nth(d.message(client, server) + pick(d, " is in flight", " arrived")))
	}
	if !kind.Instant && !d.oneIn(6) {
		f.For = d.span(2 * c.Lock.TTL)
	}
	return f, err
}

// message returns the name of a message between a client and a server.
func (d dice) message(client, server string) string {
	step := pick(d, " acquire", " acquire", " release", "")
	if server == trace.StorageName {
		step = pick(d, " read", " write")
	}
	if d.oneIn(2) {
		return fmt.Sprintf("%s's%s request to %s", client, step, server)
	}
	if step == "" {
		return fmt.Sprintf("%s's reply to %s", server, client)
	}
	return fmt.Sprintf("%s's reply to %s's%s", server, client, step)
}

// nth returns the text what together with the number of an occurrence, which is mostly the
// first.
func (d dice) nth(what string) string {
	if n := d.IntN(4); n > 1 {
		return what + ", " + trace.NthTime(n)
	}
	return what
}
