package explore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Nodes are alike if nothing but their names differs.
func TestAlikeNodes(t *testing.T) {
	for _, test := range []struct {
		name, world string // the rest of a world with redlock on three nodes
		want        []string
	}{
		{"nothing differs", "", []string{"redis-1", "redis-1", "redis-1"}},
		{"a disk", "nodes: {redis-2: {persistence: always}}", []string{"redis-1", "redis-2", "redis-1"}},
		{"two equal disks", "nodes: {redis-2: {persistence: always}, redis-3: {persistence: always}}", []string{"redis-1", "redis-2", "redis-2"}},
		{"a replica", "nodes: {replica: {replica-of: redis-1}}", []string{"redis-1", "redis-2", "redis-2"}},
		{"a latency", "network: {paths: [{from: client-1, to: [redis-3], latency: 50ms}]}", []string{"redis-1", "redis-1", "redis-3"}},
		{"two equal latencies", "network: {paths: [{from: client-1, to: [redis-3], latency: 50ms}, {from: redis-2, to: [client-1], latency: 50ms}]}",
			[]string{"redis-1", "redis-2", "redis-2"}},
		{"the latencies of two clients", "network: {paths: [{from: client-1, to: [redis-3], latency: 50ms}, {from: redis-2, to: [client-2], latency: 50ms}]}",
			[]string{"redis-1", "redis-2", "redis-3"}},
		{"a clock that is set", "faults: [{jump: redis-1, by: 1s}]", []string{"redis-1", "redis-2", "redis-2"}},
		{"two clocks that are set alike", "faults: [{jump: redis-1, by: 1s}, {jump: redis-2, by: 1s}]", []string{"redis-1", "redis-1", "redis-3"}},
		{"two clocks that are set differently", "faults: [{jump: redis-1, by: 1s}, {jump: redis-2, by: 2s}]", []string{"redis-1", "redis-2", "redis-3"}},
		{"a partition", "faults: [{partition: client-1, from: [redis-2, redis-3], for: 1s}]", []string{"redis-1", "redis-2", "redis-2"}},
		{"a client that waits for a node", "starts redis-3", []string{"redis-1", "redis-1", "redis-3"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			starts, rest := "1s after the start", test.world
			if rest == "starts redis-3" {
				starts, rest = "client-1's key expired on redis-3", ""
			}
			text := fmt.Sprintf("title: T\nassumption: none\nlock: {kind: redlock, ttl: 10s, nodes: 3}\nclients: {client-1: {}, client-2: {starts: %q}}\n%s\n", starts, rest)
			bases := []Base{{Base: runs.Base{Name: "base", Text: []byte(text), Seed: 1}}}
			r := makeRecord(t, NewLocal(bases, 10e9), bases, 0)
			var got []string
			for _, node := range r.Nodes {
				got = append(got, r.alike[node])
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("the nodes are like %v, want %v", got, test.want)
			}
		})
	}
}

// Two sets of faults are twins if they become the same by other names of alike nodes.
func TestTwins(t *testing.T) {
	l, bases := newRunner("redlock", 5)
	r := makeRecord(t, l, bases, 0)
	request := func(node string, arrived bool) trace.Trigger {
		m := trace.Message{Client: "client-1", Peer: node, Step: trace.Acquire}
		if arrived {
			return trace.Trigger{When: m.Arrived(0)}
		}
		return trace.Trigger{When: m.InFlight(0)}
	}
	// order has the nodes in the order in which the first acquire's requests arrive.
	var order []string
	for _, p := range r.Points {
		if slices.Contains(r.Nodes, p.Process) && p.Strikes.Equal(request(p.Process, true)) {
			order = append(order, p.Process)
		}
	}
	if len(order) != 5 {
		t.Fatalf("requests arrive at %v, want five", order)
	}
	cut := func(nodes ...string) item {
		return item{Kind: "partition", Target: "client-1", Others: nodes, Before: "client-1 write"}
	}
	crash := func(node string) item { return item{Kind: "crash", Target: node, Before: "client-1 write"} }
	crashAt := func(n int) runs.Fault {
		return item{Kind: "crash", Target: order[n]}.fault().WithTrigger(request(order[n], true))
	}
	for _, test := range []struct {
		name string
		a, b []runs.Fault
		want bool
	}{
		{"two sets of as many nodes", []runs.Fault{cut("redis-1", "redis-2").fault()}, []runs.Fault{cut("redis-2", "redis-4").fault()}, true},
		{"a larger set", []runs.Fault{cut("redis-1", "redis-2").fault()}, []runs.Fault{cut("redis-2").fault()}, false},
		{"the storage", []runs.Fault{cut("redis-1").fault()}, []runs.Fault{cut(trace.StorageName).fault()}, false},
		{"another client", []runs.Fault{cut("redis-1").fault()}, []runs.Fault{item{Kind: "partition", Target: "client-2", Others: []string{"redis-1"}, Before: "client-1 write"}.fault()}, false},
		{"the first and the second request", []runs.Fault{crashAt(0)}, []runs.Fault{crashAt(1)}, true},
		{"the second and the third request, which completes the quorum", []runs.Fault{crashAt(1)}, []runs.Fault{crashAt(2)}, false},
		{"the third and the fourth request", []runs.Fault{crashAt(2)}, []runs.Fault{crashAt(3)}, false},
		{"the fourth and the fifth request", []runs.Fault{crashAt(3)}, []runs.Fault{crashAt(4)}, true},
		{"two faults of one node each, in another order",
			[]runs.Fault{cut("redis-1").fault(), crash("redis-1").fault()}, []runs.Fault{crash("redis-4").fault(), cut("redis-4").fault()}, true},
		{"two faults of one node, and of two nodes",
			[]runs.Fault{cut("redis-1").fault(), crash("redis-1").fault()}, []runs.Fault{cut("redis-1").fault(), crash("redis-4").fault()}, false},
	} {
		a, b := r.twinsID(runs.WorldSpec{Faults: test.a}), r.twinsID(runs.WorldSpec{Faults: test.b})
		if (a == b) != test.want {
			t.Errorf("%s: twins: %v, want %v", test.name, a == b, test.want)
		}
		if len(test.a) == 1 && (r.twinsName(test.a[0]) == r.twinsName(test.b[0])) != test.want {
			t.Errorf("%s: the names of the places are %q and %q", test.name, r.twinsName(test.a[0]), r.twinsName(test.b[0]))
		}
	}
	disk := func(node string, disk sim.Persistence) uint64 {
		return r.twinsID(runs.WorldSpec{Faults: []runs.Fault{crash(node).fault()}, Change: diskChange(node, disk)})
	}
	if disk("redis-1", "always") != disk("redis-2", "always") || disk("redis-1", "always") == disk("redis-1", "none") {
		t.Error("nodes with equal disks are no twins, or nodes with different disks are")
	}
}

// The members of a cluster are no twins: one of them leads.
func TestNodesOfAClusterAreNotAlike(t *testing.T) {
	cfg := sim.Config{Nodes: []sim.Node{{Name: "a"}, {Name: "b"}}}
	if got := findAlike(cfg, nil, []string{"a", "b"}); got["b"] != "a" {
		t.Errorf("two nodes are like %v, want that both are like a", got)
	}
	if got := findAlike(cfg, []trace.LockInfo{{Members: []string{"a", "b"}}}, []string{"a", "b"}); got["b"] != "b" {
		t.Errorf("two members of a cluster are like %v, want that each is only like itself", got)
	}
}

// Twins have the same verdict. This test runs all twins of some worlds. The search does not
// rely on it, and tries all twins.
func TestTwinsHaveTheSameVerdict(t *testing.T) {
	every := 59
	if testing.Short() {
		every = 199
	}
	l, bases := newRunner("redlock", 5)
	sets, broken := 0, 0
	for base := range bases {
		r := makeRecord(t, l, bases, base)
		twins, names := map[string][]runs.WorldSpec{}, []string{}
		for _, w := range r.Singles(Kinds{}, bases[base].Kinds) {
			name := fmt.Sprint(r.twinsID(w))
			if twins[name] == nil {
				names = append(names, name)
			}
			twins[name] = append(twins[name], w)
		}
		for i, name := range names {
			if i%every != 0 || len(twins[name]) == 1 {
				continue
			}
			sets++
			first, err := l.Run(t.Context(), twins[name][0])
			if err != nil {
				t.Fatal(err)
			}
			if first.Broke() {
				broken++
			}
			for _, w := range twins[name][1:] {
				o, err := l.Run(t.Context(), w)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(o.Off.Breaks, first.Off.Breaks) || !reflect.DeepEqual(o.On.Breaks, first.On.Breaks) {
					t.Errorf("%s: %v breaks %v and %v, and its twin %v breaks %v and %v", r.Name, w, o.Off.Breaks, o.On.Breaks, twins[name][0], first.Off.Breaks, first.On.Breaks)
				}
			}
		}
	}
	if sets < 30 || broken == 0 && !testing.Short() {
		t.Errorf("%d sets of twins were run, and something broke in %d, want many and some", sets, broken)
	}
}

// twinBase is a fakeBase whose three nodes are alike.
type twinBase struct{ fakeBase }

func (s twinBase) Record(ctx context.Context, base int) (*Record, error) {
	r, err := s.fakeBase.Record(ctx, base)
	r.alike = map[string]string{"redis-1": "redis-1", "redis-2": "redis-1", "redis-3": "redis-1"}
	r.quorumSides = r.findQuorumSides(2)
	return r, err
}

// A search tries the first of each set of twins before the second of any, apart from classic
// causes. The parts of a search have the same order, and together all places.
func TestTwinsAreTriedLater(t *testing.T) {
	list := func(shard, shards int) []place {
		s := newSearch(3, 1, 0, 1, nil)
		s.Records, s.Shard, s.Shards = twinBase{fakeBase{points: 3}}, shard, shards
		f := &Found{search: s, groups: groups{}}
		if err := f.record(t.Context()); err != nil {
			t.Fatal(err)
		}
		all := f.places()
		seen, highest := map[string]int{}, 0
		for _, p := range all {
			fault := f.singles[0][p.members[0]].world.Faults[0]
			name := f.records[0].twinsName(fault)
			if shards == 0 && p.earlierTwins != seen[name] {
				t.Errorf("%s is tried as number %d of its twins, and the list says that %d come before it", fault, seen[name]+1, p.earlierTwins)
			}
			seen[name]++
			if p.earlierTwins < highest {
				t.Errorf("%s has %d earlier twins, and comes after a place with %d", fault, p.earlierTwins, highest)
			}
			highest = max(highest, p.earlierTwins)
		}
		if shards == 0 && (highest != 2 || len(seen) == len(all)) {
			t.Errorf("%d places have %d names, and a place has up to %d earlier twins, want sets of up to three twins", len(all), len(seen), highest)
		}
		return all
	}
	whole := list(0, 0)
	rankOf := map[int]int{}
	for i, p := range whole {
		rankOf[p.n] = i
	}
	if len(rankOf) != len(whole) {
		t.Errorf("%d of %d places are tried, want each once", len(rankOf), len(whole))
	}
	var together []int
	for shard := 1; shard <= 4; shard++ {
		last := -1
		for _, p := range list(shard, 4) {
			if rankOf[p.n] <= last {
				t.Errorf("part %d tries place %d in another order than the whole search", shard, p.n)
			}
			last = rankOf[p.n]
			together = append(together, p.n)
			if whole[last].earlierTwins != p.earlierTwins {
				t.Errorf("in part %d place %d has %d earlier twins, and %d in the whole search", shard, p.n, p.earlierTwins, whole[last].earlierTwins)
			}
		}
	}
	slices.Sort(together)
	if len(together) != len(whole) || len(slices.Compact(together)) != len(whole) {
		t.Errorf("the parts try %d places, want each of %d once", len(together), len(whole))
	}
}

// A lane tries twins of a pair later than other pairs. If it has time for all pairs, it tries
// the twins, too.
func TestTwinsOfPairsAreTriedLater(t *testing.T) {
	// tried returns the pairs that the first lane tries in turn, by their twinsID and by
	// their own ID.
	tried := func(records interface {
		Record(context.Context, int) (*Record, error)
		reportSource
	}) (twins, pairs []uint64) {
		s := newSearch(1, 2, 1000*Lanes, 1, func(runs.WorldSpec) []runs.Break { return nil })
		s.Records, s.Kinds, s.Shard, s.Shards = records, Kinds{Only: []string{"partition/partition-to"}}, 1, Lanes
		r, _ := twinBase{fakeBase{points: 1}}.Record(t.Context(), 0)
		s.Watch = func(w runs.WorldSpec, _ runs.WorldResult) {
			if len(w.Faults) == 2 {
				twins, pairs = append(twins, r.twinsID(w)), append(pairs, setID(w))
			}
		}
		find(t, s)
		return twins, pairs
	}
	countDistinct := func(ids []uint64) int {
		ids = slices.Clone(ids)
		slices.Sort(ids)
		return len(slices.Compact(ids))
	}
	twins, pairs := tried(twinBase{fakeBase{points: 1}})
	otherTwins, otherPairs := tried(fakeBase{points: 1})
	// A lane draws at random and ends when it draws nothing new many times, so it may miss a
	// few pairs.
	if a, all := countDistinct(pairs), countDistinct(otherPairs); a != len(pairs) || a < all*98/100 {
		t.Errorf("the lane tries %d pairs, %d of them different, want nearly all %d, which it tries if no nodes are alike", len(pairs), a, all)
	}
	const n = 150
	if a, b := countDistinct(twins[:n]), countDistinct(otherTwins[:n]); a != n || b >= n {
		t.Errorf("among the first %d pairs of the lane are twins: only %d are no twins; if no nodes are alike, %d of %d are none, want fewer than all", n, a, b, n)
	}
}

// The twinsID of a set does not depend on the order of its faults.
func TestOrderOfFaultsOfTwins(t *testing.T) {
	l, bases := newRunner("redlock", 5)
	r := makeRecord(t, l, bases, 0)
	all, random := r.Singles(), rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		a, b := all[random.IntN(len(all))], all[random.IntN(len(all))]
		one, ok := a.WithFaultsOf(b)
		other, _ := b.WithFaultsOf(a)
		if ok && r.twinsID(one) != r.twinsID(other) {
			t.Fatalf("%v has another twinsID than the same faults in another order", one)
		}
	}
}
