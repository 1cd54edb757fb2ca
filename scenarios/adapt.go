package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// adaptToSystem rewrites a world for another kind of server if the lock of the run needs that kind:
// for a lock on etcd, redis-3 becomes etcd-3. Each node keeps its part, such as that of a replica;
// a later check refuses a part that the new kind of server cannot have. There are two exceptions.
// If the other system does not have a node's persistence, the node gets the most durable
// persistence of that system. A setting that the other system does not have is dropped, and the run
// gets a doubt, which makes it inconclusive.
func adaptToSystem(c sim.Config, storySystem sim.System) sim.Config {
	targetSystem := c.Lock.Kind.System
	if targetSystem == "" || targetSystem == storySystem.Name {
		return c
	}
	system, names := systemOf(targetSystem), map[string]string{}
	for i := range maxNodes {
		names[storySystem.NodeName(i)] = system.NodeName(i)
	}
	name := renamer(names)
	for i := range c.Nodes {
		n := &c.Nodes[i]
		if n.CountersOnly {
			continue // a node that only counts tokens is the same for every lock
		}
		n.Name, n.ReplicaOf, n.System = name(n.Name), name(n.ReplicaOf), targetSystem
		n.Settings = slices.DeleteFunc(slices.Clone(n.Settings), func(s string) bool { return system.CheckSetting(s) != nil })
		if all := system.Persistences(); n.Persistence != "" && !slices.Contains(all, n.Persistence) {
			n.Persistence = ""
			if len(all) > 0 {
				n.Persistence = all[len(all)-1]
			}
		}
	}
	renamePoints(c.Clients, name)
	c.Tokens.Nodes = slices.Clone(c.Tokens.Nodes)
	for i, n := range c.Tokens.Nodes {
		c.Tokens.Nodes[i] = name(n)
	}
	for i := range c.Network.Paths {
		p := &c.Network.Paths[i]
		p.Between, p.And = name(p.Between), name(p.And)
	}
	for i, f := range c.Faults {
		c.Faults[i] = f.WithNames(name)
		c.Faults[i].Text = FaultText(c.Faults[i])
	}
	return c
}

// renamePoints renames the processes in the points of clients.
func renamePoints(clients []sim.Client, name func(string) string) {
	for i := range clients {
		c := &clients[i]
		c.Starts, c.WorksUntil, c.Cancels = c.Starts.Rename(name), c.WorksUntil.Rename(name), c.Cancels.Rename(name)
	}
}

// adaptToLock rewrites a world for a lock that is not the scenario's own. It returns an
// error if the scenario does not apply to the lock.
func (v *Variant) adaptToLock(c sim.Config) (sim.Config, error) {
	s := &v.spec
	if _, isGiven := s.ExpectWith.get(c.Lock.Kind.Name); isGiven {
		return adaptToSystem(c, s.system()), nil // the scenario is written for this lock too
	}
	standIn, err := findStandIn(c.Lock.Kind, c.Lock.Key, s.masters(), c.Faults)
	if err != nil {
		return c, err
	}
	if err := standIn.checkNames(c, v.Witnesses); err != nil {
		return c, err
	}
	c = adaptPoints(adaptToSystem(standIn.apply(c), s.system()))
	if err := checkClientClocks(c); err != nil {
		return c, err
	}
	if err := checkReplica(c); err != nil {
		return c, err
	}
	if err := checkPoints(c, v.witnessesWith(c.Lock.Kind, systemOf(c.Lock.Kind.System))); err != nil {
		return c, err
	}
	if err := checkAbilities(c); err != nil {
		return c, err
	}
	if c.Lock.Kind.TakenOver {
		c = startWatchers(c)
	}
	return c, nil
}

// checkReplica returns an error if a grant of the lock needs the confirmation of a replica, and
// no replica of the world can give it.
func checkReplica(c sim.Config) error {
	within := c.Lock.Kind.ConfirmedWithin
	if within == 0 {
		return nil
	}
	reason := "the scenario has no replica"
	for _, n := range c.Nodes {
		switch {
		case n.ReplicaOf == "":
		case n.Lag < within:
			return nil
		default:
			reason = fmt.Sprintf("%s receives each change only %s later", n.Name, trace.ShortDuration(n.Lag))
		}
	}
	return fmt.Errorf("the lock grants nothing: its acquire fails unless a replica confirms the grant within %s, and %s", trace.ShortDuration(within), reason)
}

// checkClientClocks returns an error if a fault acts on the clock of a client and neither the lock
// nor anything else reads that clock.
func checkClientClocks(c sim.Config) error {
	if kind := c.Lock.Kind; kind.OwnClock || kind.ReadsClock || c.Tokens.Source.OwnClock || c.Schedule.Every > 0 {
		return nil
	}
	for i, f := range c.Faults {
		isTarget := func(client sim.Client) bool { return client.Name == f.Target() }
		if e := f.Effect(); (e == trace.SetsClock || e == trace.DriftsClock) && slices.ContainsFunc(c.Clients, isTarget) {
			return fmt.Errorf("fault %d (%s): it cannot act on the lock, which reads true time and not %s's clock", i+1, f.Text, f.Target())
		}
	}
	return nil
}

// WitnessesIn returns the variant's witnesses for the lock of a run, with the names that the nodes
// have in its trace. A witness is something that must have happened for the verdict to mean
// anything. Another kind of server has other names for its nodes, but they are in the same order.
// If a witness was not seen, and the scenario expects nothing of the lock, the run is compared with
// the other locks on the same system. If all witnesses of one of these locks were seen, WitnessesIn
// returns the witnesses of that lock.
func (v *Variant) WitnessesIn(t *trace.Trace) []trace.Witness {
	var kind locks.Kind
	if len(t.Locks) > 0 {
		kind, _ = locks.Lookup(t.Locks[0].Kind)
	}
	names, masters := map[string]string{}, v.spec.masters()
	for _, p := range t.Processes {
		if p.Role == trace.RoleNode && len(names) < len(masters) {
			names[masters[len(names)]] = p.Name
		}
	}
	own := v.adaptWitnesses(v.witnessesFor(t), kind, renamer(names))
	isUnseen := func(w trace.Witness) bool { return !history.WasSeen(w, t) }
	if !slices.ContainsFunc(own, isUnseen) {
		return own
	}
	for _, witnesses := range v.witnessesOfRelatives(kind) {
		if adapted := v.adaptWitnesses(witnesses, kind, renamer(names)); !slices.ContainsFunc(adapted, isUnseen) {
			return adapted
		}
	}
	return own
}

// witnessesOfRelatives returns, for each other lock on the system of a lock, the witnesses that
// the variant gives for it. It returns nil if the variant expects something of the lock itself,
// or was changed.
func (v *Variant) witnessesOfRelatives(kind locks.Kind) (all [][]trace.Witness) {
	if _, isGiven := v.spec.ExpectWith.get(kind.Name); isGiven || kind.Name == v.Lock || len(v.overrides) > 0 {
		return nil
	}
	for _, e := range v.spec.ExpectWith {
		if relative, ok := locks.Lookup(e.name); ok && relative.System == kind.System && e.value.Witnesses != nil {
			all = append(all, e.value.Witnesses)
		}
	}
	return all
}

// witnessesWith returns the variant's witnesses for a lock on servers of some kind.
func (v *Variant) witnessesWith(kind locks.Kind, system sim.System) []trace.Witness {
	names := map[string]string{}
	for i, master := range v.spec.masters() {
		names[master] = system.NodeName(i)
	}
	t := &trace.Trace{}
	t.Locks = []trace.LockInfo{{Kind: kind.Name}}
	return v.adaptWitnesses(v.witnessesFor(t), kind, renamer(names))
}

// represents says in words which servers of the scenario the only server of a trace's lock
// represents; it returns "" if it represents none.
func (v *Variant) represents(t *trace.Trace) string {
	if len(t.Locks) == 0 {
		return ""
	}
	kind, ok := locks.Lookup(t.Locks[0].Kind)
	if _, isGiven := v.spec.ExpectWith.get(kind.Name); !ok || isGiven || v.Lock == "" || kind.Name == v.Lock {
		return ""
	}
	s, err := findStandIn(kind, cmp.Or(v.spec.Lock.Key, defaultKey), v.spec.masters(), v.spec.faults())
	if err != nil || len(s.servers) == 0 {
		return ""
	}
	at := slices.Index(v.spec.masters(), s.server)
	return fmt.Sprintf("%s keeps all grants, and represents %s of the scenario", systemOf(kind.System).NodeName(at), strings.Join(s.servers, ", "))
}

// adaptWitnesses translates witnesses for a kind of lock, and renames their servers.
func (v *Variant) adaptWitnesses(all []trace.Witness, kind locks.Kind, name func(string) string) []trace.Witness {
	if len(all) == 0 {
		return nil
	}
	standIn := standIn{}
	isOther := kind.Name != "" && v.Lock != "" && kind.Name != v.Lock
	_, isGiven := v.spec.ExpectWith.get(kind.Name) // its witnesses are written for this lock
	if isOther && !isGiven {
		standIn, _ = findStandIn(kind, cmp.Or(v.spec.Lock.Key, defaultKey), v.spec.masters(), v.spec.faults())
	}
	var adapted []trace.Witness
	for _, w := range all {
		if w = w.Rename(standIn.name).Rename(name); isOther && !isGiven {
			w = adaptWitness(w)
			if keepsInCluster(kind) {
				w.Point, w.Other = joinKeys(w.Point), joinKeys(w.Other)
			}
		}
		if !slices.ContainsFunc(adapted, w.Equal) {
			adapted = append(adapted, w)
		}
	}
	return adapted
}

// witnessesFor returns the witnesses for the lock of a run: those that expect-with gives for this
// kind of lock, or else the variant's own. A variant that overrides have changed has none.
func (v *Variant) witnessesFor(t *trace.Trace) []trace.Witness {
	if len(v.overrides) > 0 {
		return nil
	}
	if len(t.Locks) > 0 {
		if es, ok := v.spec.ExpectWith.get(t.Locks[0].Kind); ok && es.Witnesses != nil {
			return es.Witnesses
		}
	}
	return v.Witnesses
}

// renamer returns a function that replaces a name that is a key of the map, and returns any
// other name unchanged.
func renamer(names map[string]string) func(string) string {
	return func(name string) string {
		if renamed, ok := names[name]; ok {
			return renamed
		}
		return name
	}
}
