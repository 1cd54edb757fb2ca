package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// These are the values of fields that a file leaves out.
const (
	defaultKey        = "resource"
	defaultNodes      = 5
	defaultMembers    = 3                // of a cluster, if the file gives no number of nodes
	defaultTTL        = 30 * time.Second // of a lock that has no TTL in the file
	defaultRetryEvery = time.Second
	defaultHorizon    = 5 * time.Minute
	// The longest latency is below twice the shortest. So when requests are sent to all
	// nodes at the same time, all replies are in flight at one moment.
	defaultMinLatency = 600 * time.Microsecond
	defaultMaxLatency = time.Millisecond
)

// Options say how to make the world of one run of a variant.
type Options struct {
	// Seed decides the latencies and every random value.
	Seed uint64
	// Lock is the name of a kind of lock to use instead of the scenario's own. That lock
	// gets the scenario's TTL, key and nodes, and those of the scenario's options that its
	// kind accepts. "" means the scenario's own lock.
	Lock string
	// Kind is a kind of lock to use instead of Lock. It need not be registered. The zero
	// Kind means that Lock decides.
	Kind locks.Kind
	// Fencing is [Off] or [On].
	Fencing string
}

// Config returns the world of one run. It fails if the lock is unknown, if a fault of the
// scenario is impossible with this lock, or if the world is too large.
func (v *Variant) Config(o Options) (sim.Config, error) {
	c, err := v.uncheckedConfig(o)
	if err != nil {
		return c, err
	}
	if err := errors.Join(c.CheckStorage(), c.CheckTTL(), c.CheckNodes(), c.CheckSchedule(), c.CheckNesting()); err != nil {
		return sim.Config{}, err
	}
	if err := c.CheckSize(); err != nil {
		return sim.Config{}, err
	}
	t := c.Topology()
	for i, f := range c.Faults {
		if err := f.Check(t); err != nil {
			return sim.Config{}, fmt.Errorf("fault %d (%s): %w", i+1, f.Text, err)
		}
	}
	return c, nil
}

// uncheckedConfig returns the world, but does not check it.
func (v *Variant) uncheckedConfig(o Options) (sim.Config, error) {
	s := &v.spec
	kind, options, err := s.lockOptions(o)
	if err != nil {
		return sim.Config{}, err
	}
	policy, err := s.policy(o.Fencing)
	if err != nil {
		return sim.Config{}, err
	}
	if !kind.Open && len(s.masters()) == 0 {
		return sim.Config{}, errors.New("the story has no node to keep the lock on")
	}
	c := sim.Config{
		Name:           v.Scenario,
		Variant:        v.Name,
		Seed:           o.Seed,
		Lock:           sim.Lock{Kind: kind, Key: cmp.Or(s.Lock.Key, defaultKey), TTL: cmp.Or(time.Duration(s.Lock.TTL), defaultTTL), Options: options},
		Nodes:          s.nodes(),
		Clients:        s.clients(),
		Services:       s.services(),
		Storage:        s.storage(policy),
		Tokens:         s.tokens(),
		Network:        s.network(),
		Schedule:       s.schedule(),
		Faults:         s.faults(),
		Horizon:        s.horizon(),
		ProgressWithin: time.Duration(s.ProgressWithin),
		Overrides:      v.overrides,
		Unscripted:     s.Unscripted || len(v.overrides) > 0,
		Doubts:         s.doubts(kind),
	}
	if registered, ok := locks.Lookup(kind.Name); ok && o.Kind.Name == "" && registered.Name != v.Lock {
		return v.adaptToLock(c)
	}
	return adaptToSystem(c, s.system()), nil
}

// doubts returns the reasons why a run with another lock than the scenario's own says nothing
// about that lock: it lacks the feature that the scenario is about. The texts do not name the
// lock, so that a doubt about several locks can be reported once.
func (s *spec) doubts(kind locks.Kind) []string {
	var doubts []string
	for _, f := range s.Lock.Without {
		if !slices.Contains(kind.Features, string(f)) {
			doubts = append(doubts, fmt.Sprintf("the story is about a lock without %s, and the lock has no such feature to turn off", f))
		}
	}
	if s.Lock.Clock != "" && !slices.Contains(kind.Accepts, "clock") {
		doubts = append(doubts, fmt.Sprintf("the story is about a lock that reads the %s clock, and this lock has no setting for the clock", s.Lock.Clock))
	}
	if system := systemOf(kind.System); kind.System != s.system().Name {
		for _, setting := range s.Servers {
			if system.CheckSetting(setting) != nil {
				doubts = append(doubts, fmt.Sprintf("the story is about servers with the setting %s, and the servers of the lock do not have it", setting))
			}
		}
	}
	if s.Lock.Fallback != "" && !slices.Contains(kind.Accepts, "fallback") {
		doubts = append(doubts, "the story is about a lock that falls back when its nodes are down, and the lock has no fallback")
	}
	return doubts
}

// lockOptions returns the kind of lock of a run, and its settings: those of the scenario
// that the kind accepts.
func (s *spec) lockOptions(run Options) (locks.Kind, locks.Options, error) {
	kind := run.Kind
	if kind.Name == "" {
		name := cmp.Or(run.Lock, string(s.Lock.Kind))
		var ok bool
		if kind, ok = locks.Lookup(name); !ok {
			return kind, locks.Options{}, fmt.Errorf("no lock is called %s; %s", quote(name), DidYouMean(name, locks.Names()))
		}
	}
	var o locks.Options
	if slices.Contains(kind.Accepts, "ask") {
		o.Ask = locks.Ask(s.Lock.Ask)
	}
	if slices.Contains(kind.Accepts, "clock") {
		o.Clock = fakeclock.Kind(s.Lock.Clock)
	}
	if slices.Contains(kind.Accepts, "node-timeout") {
		o.NodeTimeout = time.Duration(s.Lock.NodeTimeout)
	}
	if slices.Contains(kind.Accepts, "holders") {
		o.Holders = s.Lock.Holders
	}
	if slices.Contains(kind.Accepts, "expects") {
		o.Expects = time.Duration(s.Lock.Expects)
	}
	if slices.Contains(kind.Accepts, "failures") {
		o.Failures = s.Lock.Failures
	}
	if slices.Contains(kind.Accepts, "open-for") {
		o.OpenFor = time.Duration(s.Lock.OpenFor)
	}
	if slices.Contains(kind.Accepts, "fallback") {
		o.Fallback = locks.Fallback(s.Lock.Fallback)
	}
	for _, f := range s.Lock.Without {
		if slices.Contains(kind.Features, string(f)) {
			o.Without = append(o.Without, string(f))
		}
	}
	return kind, o, nil
}

// policy returns what the storage checks in the run without fencing, or in the run with it.
func (s *spec) policy(fencing string) (storage.Policy, error) {
	switch fencing {
	case Off:
		return storage.None, nil
	case On:
		defaultPolicy := storage.Writes
		if s.Storage.In != "" {
			defaultPolicy = storage.Optimistic // etcd and ZooKeeper can check versions by themselves
		}
		return cmp.Or(storage.Policy(s.Storage.Fencing), defaultPolicy), nil
	}
	return "", fmt.Errorf("fencing is %q; it must be %q or %q", fencing, Off, On)
}

func (s *spec) storage(policy storage.Policy) sim.Storage {
	return sim.Storage{
		Fencing:   policy,
		InCluster: s.Storage.In == "cluster",
		Reads:     s.Storage.Reads,
		OwnClient: s.Storage.Client == "own",
		CopyLag:   time.Duration(s.Storage.CopyLag),
	}
}

// masters returns the names of the lock's own nodes, which are not replicas. It replaces an
// invalid number of nodes by the nearest valid one, so that a check reports only that
// number and no missing nodes.
func (s *spec) masters() []string {
	n := defaultNodes
	if s.Lock.Nodes != nil {
		n = min(max(*s.Lock.Nodes, 1), maxNodes)
	} else if kind, ok := locks.Lookup(string(s.Lock.Kind)); ok {
		n = nodesUsed(kind)
	}
	names, system := make([]string, n), s.system()
	for i := range names {
		names[i] = system.NodeName(i)
	}
	return names
}

// system returns the kind of server of the scenario's nodes: the kind that keeps the
// scenario's lock, or Redis if the lock needs no server.
func (s *spec) system() sim.System {
	kind, _ := locks.Lookup(string(s.Lock.Kind))
	return systemOf(cmp.Or(kind.System, locks.Redis))
}

// systemOf returns a kind of server by its name. If the program does not contain it, only
// the name is set.
func systemOf(name string) sim.System {
	if system, ok := sim.LookupSystem(name); ok {
		return system
	}
	return sim.System{Name: name}
}

// nodesUsed returns the number of nodes of a lock if the file gives no number. For a lock in a
// cluster it is the default number of members. For any other lock it is the number of default
// nodes on which the lock stores its grants.
func nodesUsed(kind locks.Kind) int {
	used := map[int]bool{}
	slots, _ := kind.Slots(defaultKey, defaultNodes)
	if slots == nil && (!kind.Open || kind.System != "") {
		return 1 // one node keeps the grants, but not as keys; or it keeps only the data
	}
	for _, slot := range slots {
		if slot.Node == locks.Cluster {
			return defaultMembers
		}
		used[slot.Node] = true
	}
	return len(used)
}

// nodes returns the lock's own nodes in order, then the replicas in the order of the file,
// then the nodes that only count tokens.
func (s *spec) nodes() []sim.Node {
	var nodes []sim.Node
	system := s.system()
	var defaultPersistence sim.Persistence
	if all := system.Persistences(); len(all) > 0 {
		defaultPersistence = all[0]
	}
	add := func(name string, n node) {
		nodes = append(nodes, sim.Node{
			Name:        name,
			System:      system.Name,
			Persistence: cmp.Or(sim.Persistence(n.Persistence), defaultPersistence),
			ReplicaOf:   n.ReplicaOf,
			Lag:         time.Duration(n.Lag),
			Settings:    s.Servers,
		})
	}
	for _, name := range s.masters() {
		n, _ := s.Nodes.get(name)
		add(name, n)
	}
	for _, e := range s.Nodes {
		if e.value.ReplicaOf != "" {
			add(e.name, e.value)
		}
	}
	for _, name := range s.counters() {
		n, _ := s.Nodes.get(name)
		add(name, n)
		nodes[len(nodes)-1].CountersOnly, nodes[len(nodes)-1].Settings = true, nil
	}
	return nodes
}

// counters returns the nodes that only count tokens, and are not the lock's own.
func (s *spec) counters() []string {
	masters := s.masters()
	return slices.DeleteFunc(slices.Clone(s.Tokens.Nodes), func(name string) bool { return slices.Contains(masters, name) })
}

func (s *spec) services() []sim.Service {
	var services []sim.Service
	for _, e := range s.Services {
		services = append(services, sim.Service{Name: e.name, DropsToken: e.value.DropsToken})
	}
	return services
}

func (s *spec) tokens() sim.Tokens {
	source, _ := locks.LookupTokenSource(string(s.Tokens.Source))
	return sim.Tokens{Source: source, Nodes: s.Tokens.Nodes}
}

func (s *spec) clients() []sim.Client {
	clients := make([]sim.Client, len(s.Clients))
	for i, e := range s.Clients {
		c := e.value
		clients[i] = sim.Client{
			Name:         e.name,
			Key:          c.Key,
			Does:         c.Does,
			Starts:       c.Starts,
			Sections:     valueOr(c.Sections, 1),
			Attempts:     valueOr(c.Attempts, 0),
			RetryEvery:   cmp.Or(time.Duration(c.RetryEvery), defaultRetryEvery),
			Retry:        locks.Retry(c.Retry),
			Works:        time.Duration(c.Works),
			WorksUntil:   c.WorksUntil,
			KeepsFor:     time.Duration(c.KeepsFor),
			ExtendsEvery: time.Duration(c.ExtendsEvery),
			Cancels:      c.Cancels,
			CancelsAfter: time.Duration(c.CancelsAfter),
			GivesUp:      time.Duration(c.GivesUp),
			Resends:      c.IfNoAnswer == "resends",
			StartsOver:   c.IfRefused == "starts-over",
		}
	}
	return clients
}

// schedule returns the schedule; it is zero if the file has none.
func (s *spec) schedule() trace.Schedule {
	if s.Schedule.Every <= 0 {
		return trace.Schedule{}
	}
	return trace.Schedule{First: time.Duration(s.Schedule.First), Every: time.Duration(s.Schedule.Every), Periods: valueOr(s.Schedule.Periods, 1), Repeatable: s.Schedule.RunTwice == "harmless"}
}

// valueOr returns an optional number, or fallback if the number is nil.
func valueOr(n *int, fallback int) int {
	if n == nil {
		return fallback
	}
	return *n
}

func (s *spec) network() sim.Network {
	l := cmp.Or(s.Network.Latency, latency{defaultMinLatency, defaultMaxLatency})
	n := sim.Network{Min: l.min, Max: l.max}
	for _, p := range s.Network.Paths {
		for _, to := range p.To {
			n.Paths = append(n.Paths, sim.Path{Between: p.From, And: to, Min: p.Latency.min, Max: p.Latency.max})
		}
	}
	return n
}

func (s *spec) horizon() time.Duration {
	return cmp.Or(time.Duration(s.Horizon), defaultHorizon)
}

func (s *spec) faults() []sim.Fault {
	faults := make([]sim.Fault, len(s.Faults))
	for i, f := range s.Faults {
		faults[i] = f.toSim()
	}
	return faults
}
