package explore

import (
	"context"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A Base is a workload without faults, from which a search starts. Each world of the search is a
// base with some faults.
type Base struct {
	runs.Base
	// Kinds are the kinds of faults that a search tries in this base. A fault is tried only
	// if the Kinds of the [Search] select it, too.
	Kinds Kinds
	// Takeover is the time from a crash of the holder until another client is granted the lock; 0
	// if it was not measured.
	Takeover time.Duration
}

// NewLocal returns a runner that runs worlds of the bases in this process; see
// [runs.NewLocal].
func NewLocal(bases []Base, patience time.Duration) *runs.Local {
	var all []runs.Base
	for _, b := range bases {
		all = append(all, b.Base)
	}
	return runs.NewLocal(all, patience)
}

// A Lock is a lock to explore. Its Bases are workloads that fit it.
type Lock struct {
	// Name is the name of a registered kind of lock. If Kind has a name, the search uses Kind
	// instead, which need not be registered. Name must then be a registered lock on the same
	// system, such as the one that [RegisteredOn] returns.
	Name string
	Kind locks.Kind
	// Nodes is the number of nodes; 0 is the lock's default.
	Nodes int
	// TTL is how long a grant lasts; 0 is 30 seconds.
	TTL time.Duration
	// Takeover is the time from a crash of the holder until another client is granted the
	// lock; 0 if it was not measured. See the func [Takeover].
	Takeover time.Duration
	// Latency is the time that a message takes, as written in a scenario; "" is the
	// default.
	Latency string
	// Extends reports whether a client can extend a lease.
	Extends bool
	Seed    uint64
}

// kind returns the kind of lock, from Kind or by Name.
func (l Lock) kind() locks.Kind {
	if l.Kind.Name != "" {
		return l.Kind
	}
	kind, _ := locks.Lookup(l.Name)
	return kind
}

// RegisteredOn returns the name of a registered kind of lock on a system; "single" if there is
// none. The text of a workload needs such a name even if another Kind replaces the lock: the name
// determines the names of the nodes in the text, and how a node can write to its disk.
func RegisteredOn(system string) string {
	const usual = "single"
	if kind, _ := locks.Lookup(usual); kind.System == system {
		return usual
	}
	for _, name := range locks.Names() {
		if kind, _ := locks.Lookup(name); kind.System == system {
			return name
		}
	}
	return usual
}

// firstClient is the client that is the first to be granted the lock in the bases of a
// Lock.
const firstClient = "client-1"

// DefaultTTL is how long a grant lasts if the Lock sets no TTL.
const DefaultTTL = 30 * time.Second

// Bases returns the workloads in which a lock is explored.
//
// In the base contend, the first client holds the lock for less than a third of its TTL.
// Another client keeps trying to acquire it, and so acquires it soon after the release. It
// does not try too often, because each attempt costs time in every world.
//
// The base extend exists only for locks whose leases can be extended. There the first
// client extends its lease. Its work takes longer than the TTL, and longer than another
// client waits for a crashed holder.
//
// The base replicated exists only for servers that can have replicas. The first node has a
// replica that lags behind. A fault can promote the replica after the node has lost power,
// or while the node is alive and clients still send it requests. Only faults that concern
// replication are tried there.
func (l Lock) Bases(kinds Kinds) []Base {
	ttl := l.TTL
	if ttl == 0 {
		ttl = DefaultTTL
	}
	share := func(tenths time.Duration) string { return trace.ShortDuration(ttl / 10 * tenths) }
	longest := max(ttl, l.Takeover)
	// No client waits forever for the storage, which a fault may crash.
	waits := scenarios.Field{Name: "gives-up", Value: share(3)}
	// No client waits forever for a node. If the node has lost power, no reset of the
	// connection arrives.
	cancels := scenarios.Field{Name: "cancels-after", Value: share(15)}
	lock := scenarios.Fields{{Name: "kind", Value: l.Name}, {Name: "ttl", Value: trace.ShortDuration(ttl)}}
	if l.Nodes > 0 {
		lock = append(lock, scenarios.Field{Name: "nodes", Value: l.Nodes})
	}
	var network scenarios.Fields
	if l.Latency != "" {
		network = scenarios.Fields{{Name: "network", Value: scenarios.Fields{{Name: "latency", Value: l.Latency}}}}
	}
	base := func(name string, holder scenarios.Fields, retryEvery string) Base {
		return Base{Takeover: l.Takeover, Base: runs.Base{Name: name, Kind: l.Kind, Seed: l.Seed, Text: append(scenarios.Fields{
			{Name: "title", Value: l.Name + ": " + name},
			{Name: "lock", Value: lock},
			{Name: "clients", Value: scenarios.Fields{
				{Name: firstClient, Value: holder},
				{Name: "client-2", Value: scenarios.Fields{
					{Name: "starts", Value: trace.AnyOf(trace.Alternative{Delay: ttl / 30, Happening: trace.Start{}}).String()},
					{Name: "works", Value: share(2)},
					{Name: "retry-every", Value: retryEvery}, waits, cancels,
				}},
			}},
			{Name: "horizon", Value: trace.ShortDuration(10 * longest)},
			{Name: "progress-within", Value: trace.ShortDuration(4 * longest)},
		}, network...).Document()}}
	}
	bases := []Base{base("contend", scenarios.Fields{
		{Name: "works", Value: share(3)}, {Name: "retry-every", Value: share(1)}, waits, cancels,
	}, trace.ShortDuration(ttl/20*3))}
	if l.Extends {
		bases = append(bases, base("extend", scenarios.Fields{
			{Name: "works", Value: trace.ShortDuration(longest / 10 * 12)}, {Name: "extends-every", Value: share(5)}, {Name: "retry-every", Value: share(1)}, waits, cancels,
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

// replicated returns the text of a workload with one change: its first node, master, gets a
// replica that lags behind by lag.
func (l Lock) replicated(text []byte, master, lag string) []byte {
	v, err := runs.ParseOne(l.Name, text)
	if err != nil {
		return text // running the base returns the error
	}
	doc := v.Document()
	doc.Set("title", l.Name+": replicated")
	doc.Set("nodes.replica.replica-of", master)
	doc.Set("nodes.replica.lag", lag)
	return doc.Bytes()
}

// FileBase makes a base of one variant of a scenario file, without the variant's faults.
func FileBase(v *scenarios.Variant, seed uint64) Base {
	name := v.Scenario
	if v.Name != "" {
		name += "/" + v.Name
	}
	return Base{Base: runs.Base{Name: name, Text: withoutDescription(v).Bytes(), Seed: seed}}
}

// WithBoundedWaits returns the base with an end for each wait that would otherwise last for the
// whole run, because it waits for the effect of a fault and the base has no faults. late lists the
// clients that would never start: now each of them starts after some seconds at the latest. endless
// lists the clients that would work for ever: now they stop a second after they have acquired the
// lock. If there are none, the base is unchanged. WithBoundedWaits runs the base in this process.
func (b Base) WithBoundedWaits(patience time.Duration) (bounded Base, late, endless []string, err error) {
	for {
		v, err := b.Variant()
		if err != nil {
			return b, nil, nil, err
		}
		report, err := NewLocal([]Base{b}, patience).Report(context.Background(), runs.WorldSpec{}, runs.FencingOff)
		if err != nil || report.History == nil {
			return b, late, endless, err
		}
		hasBegun, works := map[string]bool{}, map[string]bool{}
		for _, c := range report.History.Calls() {
			hasBegun[c.Client] = true
			works[c.Client] = works[c.Client] || c.Step == trace.Work && c.Ended == nil
		}
		doc, isSame := v.Document(), true
		bound := func(path string, point trace.Point, latest trace.Alternative) {
			doc.Set(path, trace.AnyOf(append(point.Alternatives(), latest)...).String())
			isSame = false
		}
		for i, name := range v.Clients() {
			start, worksUntil := v.Starts(name), v.WorksUntil(name)
			switch {
			case !start.IsZero() && !hasBegun[name] && !slices.Contains(late, name):
				late = append(late, name)
				bound("clients."+name+".starts", start, trace.Alternative{Delay: time.Duration(max(i, 1)) * time.Second, Happening: trace.Start{}})
			case !worksUntil.IsZero() && works[name] && !slices.Contains(endless, name):
				endless = append(endless, name)
				bound("clients."+name+".works-until", worksUntil, trace.Alternative{Delay: time.Second, Happening: trace.Action{Process: name, Verb: trace.Acquired}})
			}
		}
		if isSame {
			return b, late, endless, nil
		}
		b.Text = doc.Bytes()
	}
}

// WithLock returns the base with another registered kind of lock. It keeps the settings of
// the lock that the new kind also has.
func (b Base) WithLock(kind string) (Base, error) {
	v, err := b.Variant()
	if err != nil {
		return b, err
	}
	doc := v.Document()
	doc.Set("lock.kind", kind)
	b.Text = doc.Bytes()
	_, err = b.Variant()
	return b, err
}
