package explore

import (
	"context"
	"time"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A Base is a workload without faults.
type Base struct {
	runs.Base
	// Kinds are the kinds of faults that make sense in it.
	Kinds Kinds
	// Takeover is that of the [Lock].
	Takeover time.Duration
}

// NewLocal makes what runs worlds of some bases in this process; see [runs.NewLocal].
func NewLocal(bases []Base, patience time.Duration) *runs.Local {
	var all []runs.Base
	for _, b := range bases {
		all = append(all, b.Base)
	}
	return runs.NewLocal(all, patience)
}

// A Lock is a lock to explore, with a workload made for it.
type Lock struct {
	// Name is the kind of lock. Kind, if it has a name, takes its place: it need not be
	// registered.
	Name string
	Kind locks.Kind
	// Nodes is how many nodes it has; 0 is as many as it has by default.
	Nodes int
	// TTL is how long a grant lasts; 0 is 30 seconds.
	TTL time.Duration
	// Takeover, if not 0, is how long after a crash of its holder another client is granted
	// the lock; see [Takeover].
	Takeover time.Duration
	// Latency is how long a message takes, as a scenario says it; "" is as long as by default.
	Latency string
	// Extends says that a lease can be prolonged.
	Extends bool
	Seed    uint64
}

// kind is the kind of lock.
func (l Lock) kind() locks.Kind {
	if l.Kind.Name != "" {
		return l.Kind
	}
	kind, _ := locks.Lookup(l.Name)
	return kind
}

// firstClient is the client of a base that is granted the lock first.
const firstClient = "client-1"

// DefaultTTL is how long a grant lasts if nobody says otherwise.
const DefaultTTL = 30 * time.Second

// Bases are the workloads in which a lock is explored.
//
// In contend the first client holds the lock for less than a third of its TTL, and
// another asks for it again and again meanwhile, so that it gets in soon after it could;
// each attempt costs time in every world, so it does not ask too often. In extend, for
// locks that can, the work takes longer than the TTL, and than another client waits for a
// holder that has crashed, and the first client prolongs its lease. In replicated, which is
// tried with the faults in question alone, the first node has a replica that lags behind and
// can be promoted: when it has lost its power, or while it is alive, and clients still speak
// to it.
func (l Lock) Bases(kinds Kinds) []Base {
	ttl := l.TTL
	if ttl == 0 {
		ttl = DefaultTTL
	}
	share := func(tenths time.Duration) string { return trace.ShortDuration(ttl / 10 * tenths) }
	lasts := max(ttl, l.Takeover)
	// Nobody waits for ever for a storage that has crashed.
	waits := scenarios.Field{Name: "gives-up", Value: share(3)}
	// Nor for ever for a node that has lost its power: nobody tells.
	cancels := scenarios.Field{Name: "cancels-after", Value: share(15)}
	lock := scenarios.Fields{{Name: "kind", Value: l.Name}, {Name: "ttl", Value: trace.ShortDuration(ttl)}}
	if l.Nodes > 0 {
		lock = append(lock, scenarios.Field{Name: "nodes", Value: l.Nodes})
	}
	var network scenarios.Fields
	if l.Latency != "" {
		network = scenarios.Fields{{Name: "network", Value: scenarios.Fields{{Name: "latency", Value: l.Latency}}}}
	}
	base := func(name string, holder scenarios.Fields, asks string) Base {
		return Base{Takeover: l.Takeover, Base: runs.Base{Name: name, Kind: l.Kind, Seed: l.Seed, Text: append(scenarios.Fields{
			{Name: "title", Value: l.Name + ": " + name},
			{Name: "lock", Value: lock},
			{Name: "clients", Value: scenarios.Fields{
				{Name: firstClient, Value: holder},
				{Name: "client-2", Value: scenarios.Fields{
					{Name: "starts", Value: trace.Any(trace.Clause{Delay: ttl / 30, Happening: trace.Start{}}).String()},
					{Name: "works", Value: share(2)},
					{Name: "retry-every", Value: asks}, waits, cancels,
				}},
			}},
			{Name: "horizon", Value: trace.ShortDuration(10 * lasts)},
			{Name: "progress-within", Value: trace.ShortDuration(4 * lasts)},
		}, network...).Document()}}
	}
	bases := []Base{base("contend", scenarios.Fields{
		{Name: "works", Value: share(3)}, {Name: "retry-every", Value: share(1)}, waits, cancels,
	}, trace.ShortDuration(ttl/20*3))}
	if l.Extends {
		bases = append(bases, base("extend", scenarios.Fields{
			{Name: "works", Value: trace.ShortDuration(lasts / 10 * 12)}, {Name: "extends-every", Value: share(5)}, {Name: "retry-every", Value: share(1)}, waits, cancels,
		}, share(4)))
	}
	if system, _ := sim.LookupSystem(l.kind().System); system.Replicates && kinds.Tries("promote") {
		b := bases[0]
		b.Name, b.Kinds = "replicated", Kinds{Only: []string{"promote", "crash/power-loss", "partition"}, Except: []string{"partition/partition-to", "partition/partition-from"}}
		b.Text = l.replicated(b.Text, system.NodeName(0), share(1))
		bases = append(bases, b)
	}
	return bases
}

// replicated is a workload in which the first node has a replica that lags behind.
func (l Lock) replicated(text []byte, master, lag string) []byte {
	v, err := runs.ParseOne(l.Name, text)
	if err != nil {
		return text // whoever runs it is told
	}
	doc := v.Document()
	doc.Set("title", l.Name+": replicated")
	doc.Set("nodes.replica.replica-of", master)
	doc.Set("nodes.replica.lag", lag)
	return doc.Bytes()
}

// FileBase makes a base of a story from a scenario file: its workload, without its
// faults.
func FileBase(v *scenarios.Variant, seed uint64) Base {
	name := v.Scenario
	if v.Name != "" {
		name += "/" + v.Name
	}
	return Base{Base: runs.Base{Name: name, Text: withoutOwnWords(v).Bytes(), Seed: seed}}
}

// Unbound is the base in which nobody waits for ever for something that only a fault
// brings about: clients that would never begin begin, at the latest, one after the
// other a second apart. late names them; it is empty if there are none, and then the
// base is as it was. It runs the base in this process.
func (b Base) Unbound(patience time.Duration) (free Base, late []string, err error) {
	v, err := b.Story()
	if err != nil {
		return b, nil, err
	}
	plain, err := NewLocal([]Base{b}, patience).Account(context.Background(), runs.World{}, runs.Without)
	if err != nil || plain.History == nil {
		return b, nil, err
	}
	began := map[string]bool{}
	for _, c := range plain.History.Calls() {
		began[c.Client] = true
	}
	starts := map[string]trace.Point{}
	for i, name := range v.Clients() {
		if start := v.Starts(name); !start.IsZero() && !began[name] {
			late = append(late, name)
			soon := trace.Clause{Delay: time.Duration(max(i, 1)) * time.Second, Happening: trace.Start{}}
			starts[name] = trace.Any(append(start.Clauses(), soon)...)
		}
	}
	if v, err = v.With(scenarios.Change{Starts: starts}); err != nil {
		return b, nil, err
	}
	b.Text = v.Document().Bytes()
	return b, late, nil
}

// WithLock is the base with another registered kind of lock, and with those of the
// lock's settings that it understands.
func (b Base) WithLock(kind string) (Base, error) {
	v, err := b.Story()
	if err != nil {
		return b, err
	}
	doc := v.Document()
	doc.Set("lock.kind", kind)
	b.Text = doc.Bytes()
	_, err = b.Story()
	return b, err
}
