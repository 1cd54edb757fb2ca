package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// System describes a kind of server that keeps locks to other packages, as data, and has the
// functions that make a node. It is called the kind's card.
//
// To add a kind of server, write a package in servers that registers its card. The server
// records an event when a key of a lock is set, prolonged or deleted, or expires. Such a
// key on a node is one of the lock's slots (see [locks.Kind]). Other packages derive the
// lock's grants from these events.
type System struct {
	// Name is the system's name in scenarios, such as redis. By default its nodes are
	// called redis-1, redis-2 and so on.
	Name string
	// Title is one line for people.
	Title string
	// Node is what a sentence calls one of the nodes, such as "Redis node".
	Node string
	// UsuallyRun says how many nodes people usually run together, such as "3 or 5 servers", if this
	// simulation has fewer nodes. It is "" if the simulation has as many.
	UsuallyRun string
	// Port is the port on which its nodes listen.
	Port int

	// Disks are the ways in which a node can write to its disk, from the least durable to
	// the most durable. The first is the default. If Disks is empty, the nodes have no
	// disk.
	Disks []Disk
	// Replicates reports that a node can be a replica of another node and take its place:
	// its [Server] is a [Replica].
	Replicates bool
	// Demotes reports that a replaced master can become a replica of the node that has
	// taken its place: its [Server] is [Demotable].
	Demotes bool
	// Cluster reports that the nodes are members of one cluster, which agree on one set of
	// keys. In the trace the cluster is a process of its own, with the name of the system.
	// A grant is recorded once, as an event of the cluster, when a majority of the members
	// have stored it (see [Host.RecordEvent]).
	Cluster bool
	// Key, if set, returns the key under which the trace records the grants of the lock called
	// name. Otherwise that key is the lock's name.
	Key func(name string) string
	// RevivesKeys reports that an expired key becomes valid again if the node's clock is
	// set back.
	RevivesKeys bool
	// UsesElapsedTime reports that the nodes measure TTLs by their monotonic clocks. A jump
	// of their wall clock then has no effect on keys.
	UsesElapsedTime bool
	// Unit is the unit of TTLs: each TTL must be a whole multiple of Unit. 0 means that there is no
	// such rule.
	Unit time.Duration
	// ShortestTTL is the shortest TTL that the nodes accept; 0 means no limit.
	ShortestTTL time.Duration
	// Grace, if set, returns for how long after its TTL the grant of a dead holder may
	// still block other clients.
	Grace func(ttl time.Duration) time.Duration
	// Failure is the error with which a node answers while the fault fail lasts, unless the
	// fault names another error. If it is "", the fault fail cannot strike the nodes.
	Failure string
	// Revokes reports that the fault revoke can delete a client's claim from the nodes: its
	// [Server] is [Revocable]. RevokesSessions reports that the fault can also end a
	// client's session. If Revokes is false, RevokeAdvice says in an error what to write in
	// a scenario instead, and why.
	Revokes, RevokesSessions bool
	RevokeAdvice             string
	// Reads are the ways to read data in the cluster, such as reads that may be stale. The
	// first is the default. If Reads is empty, the nodes keep only locks.
	Reads []string
	// Settings are the settings that the nodes have.
	Settings []Setting
	// Manners are manners of faults that can strike only nodes of this system, by the name
	// of the kind of fault.
	Manners map[string][]Manner

	// IdleCheckGap, if set, reports a difference between the clients of this build and
	// those of other builds. Some client libraries check, before they use an idle
	// connection again, whether it has ended, but not on every operating system.
	// IdleCheckGap returns "" if the libraries of this build check, and otherwise a
	// sentence that says what they do not notice.
	IdleCheckGap func() string

	// Framer returns the framer of a new connection, which cuts the bytes of the client
	// into messages.
	Framer func(*Names) Framer
	// Prepare, if set, is called before a world begins, with the number of the world's
	// nodes of this kind. It makes objects that nodes of several worlds share. They cannot
	// be made while a world runs: synctest binds a WaitGroup or a channel to the world in
	// which it is made.
	Prepare func(nodes int)
	// Boot makes the server of one node. Framer and Boot are nil for a system that this
	// program knows and does not implement; see [ProvideSystem].
	Boot func(*Host) Server
}

// KeyOf returns the key under which the trace records the grants of the lock called name.
func (s System) KeyOf(name string) string {
	if s.Key == nil {
		return name
	}
	return s.Key(name)
}

// Persistence is what a node writes to its disk, and when, such as "always". Each system
// has its own values.
type Persistence string

// NoPersistence means that a node writes nothing to its disk, so it is empty after a
// restart. All systems whose nodes can run without a disk use this value.
const NoPersistence Persistence = "none"

// A Disk is one way in which a node can write to its disk.
type Disk struct {
	Persistence
	// Keeps are the kinds of crashes that lose no change which the node has confirmed to a
	// client.
	Keeps []trace.Crash
	// HandlesStall reports that the fault disk-stall can strike such a node: its server
	// simulates what it does while the disk stalls, and is [Durable]. Such a server either
	// answers when the data is on the disk, or answers first and writes later.
	HandlesStall bool
	// StallAdvice is for any other node: it says in an error what happens while the disk
	// stalls, and what to write in a scenario instead.
	StallAdvice string
}

// Persistences returns the Persistence of each of the system's Disks.
func (s System) Persistences() []Persistence {
	names := make([]Persistence, len(s.Disks))
	for i, d := range s.Disks {
		names[i] = d.Persistence
	}
	return names
}

// Keeps reports whether a crash of a node with a persistence loses no change that the node
// has confirmed to a client.
func (s System) Keeps(p Persistence, how trace.Crash) bool {
	return slices.ContainsFunc(s.Disks, func(d Disk) bool { return d.Persistence == p && slices.Contains(d.Keeps, how) })
}

// disk returns the system's Disk with a persistence; "" means the default. It returns false
// if there is none.
func (s System) disk(p Persistence) (Disk, bool) {
	for _, d := range s.Disks {
		if p == "" || d.Persistence == p {
			return d, true
		}
	}
	return Disk{}, false
}

// HandlesDiskStall reports whether the fault disk-stall can strike a node with a
// persistence; "" means the default.
func (s System) HandlesDiskStall(p Persistence) bool {
	d, ok := s.disk(p)
	return ok && d.HandlesStall
}

// A Framer cuts the bytes that a client has written on one connection into messages,
// because faults act on messages. It may keep state from one message to the next, such as
// the tables of a compression.
type Framer interface {
	// Next returns the first message of b and its size in bytes. b is not empty. size is 0
	// if b does not contain the whole message yet. Invalid bytes are one message too.
	Next(b []byte) (size int, f Frame)
}

// A Frame is one message of a client.
type Frame struct {
	// Body is the content of the message, as the server gets it in [Request].
	Body any
	// Text describes the message to people. It must be the same in equal runs, so [Names]
	// has to replace random words in it.
	Text string
	// Handshake reports that the message only sets the connection up, or keeps it open.
	Handshake bool
	// KeepAlive reports that the message only keeps a session alive, so it belongs to no
	// step of the client.
	KeepAlive bool
}

// Server is the server software of one node. The world's event loop calls its methods, one
// at a time. It calls none while the node is paused or down, except where a comment says
// otherwise.
type Server interface {
	// Accept is called for each new connection.
	Accept(*End) Endpoint
	// ClockChanged is called when a fault has set, stopped or continued the node's clocks,
	// or changed their rate. It is called even while the node is paused or down.
	ClockChanged()
	// Crash ends the server. HangUp of each connection has been called before. how decides
	// which data remains on the disk. Restart starts the server again.
	Crash(how trace.Crash)
	Restart()
	// Stop ends the server's goroutines, at the end of the run.
	Stop()
}

// A Replica is a server that can be the replica of another node of its system, and can take
// the place of that node.
type Replica interface {
	Server
	// Follow makes the server the replica of a node. It is called before the run begins.
	Follow(master string)
	// Promote makes the server a master, unless it already is one.
	Promote()
}

// A Demotable server is a master that can become a replica of the node that has taken its
// place.
type Demotable interface {
	Replica
	// Demote makes the server a replica of the node that has taken its place. The server
	// drops all data that the other node does not have. Demote returns false if no node has
	// taken its place, or if it is already a replica.
	Demote() bool
}

// A Durable server simulates what it does while its disk stalls: it asks
// [Host.IsDiskStalled] before it relies on the disk. If it cannot continue without the
// disk, it calls [Host.AwaitDisk].
type Durable interface {
	Server
	// DiskBack is called when the disk works again after a stall.
	DiskBack()
}

// A Revocable server can carry out the fault [Revoke], in which an operator deletes a
// client's claim by hand.
type Revocable interface {
	Server
	// Revoke deletes the client's claims to the locks of the world: its grants and its
	// places in queues. If session is set, it instead ends the sessions to which these
	// claims belong. The actor of the events that it records is [trace.Operator]. Revoke
	// returns false if it finds no claim, or if this server may not write because it is a
	// replica, or a member that is not the leader.
	Revoke(client string, session bool) bool
}

// An Attentive server is notified when it may have become able or unable to reach another
// node. So it need not exchange messages all the time to find that out.
type Attentive interface {
	Server
	// Attend is called when a fault strikes or ends, or when a process stops or continues,
	// even while the server's own node is paused. The change may not be complete yet. So
	// Attend may only schedule a call (see [Host.At]), in which the server finds out what
	// has changed.
	Attend()
}

// notifyAttentive calls Attend of every [Attentive] server.
func (w *World) notifyAttentive() {
	if !w.started {
		return
	}
	for _, p := range w.processes {
		if h := p.host(); h != nil && h.IsUp() {
			if s, ok := h.server.(Attentive); ok {
				s.Attend()
			}
		}
	}
}

// systems are the registered systems, in alphabetical order.
var systems []System

// RegisterSystem adds a system. Call it during package initialisation. It panics if the
// name is already registered: otherwise one of the two systems would be ignored without an
// error.
func RegisterSystem(s System) {
	if _, dup := LookupSystem(s.Name); dup {
		panic("two kinds of servers are called " + s.Name)
	}
	systems = append(systems, s)
	slices.SortFunc(systems, func(a, b System) int { return strings.Compare(a.Name, b.Name) })
	for i, k := range faultKinds {
		for _, m := range s.Manners[k.Name] {
			m.System = s.Name
			faultKinds[i].Manners = append(faultKinds[i].Manners, m)
		}
	}
}

// ProvideSystem sets the Framer and the Boot of a system that was registered without them.
// Every program that reads scenarios contains the card, but only some import the
// implementation. Call ProvideSystem during package initialisation. It panics if the name
// is not registered, or already has an implementation.
func ProvideSystem(name string, framer func(*Names) Framer, boot func(*Host) Server) {
	i := slices.IndexFunc(systems, func(s System) bool { return s.Name == name })
	if i < 0 || systems[i].Boot != nil {
		panic("the kind of server " + name + " is not registered, or already has an implementation")
	}
	systems[i].Framer, systems[i].Boot = framer, boot
}

// Systems returns the systems that this program knows, in alphabetical order.
func Systems() []System { return slices.Clone(systems) }

// LookupSystem finds a system by name.
func LookupSystem(name string) (System, bool) {
	for _, s := range systems {
		if s.Name == name {
			return s, true
		}
	}
	return System{}, false
}

// NodeName returns the default name of the i-th node of a system, counted from 0.
func (s System) NodeName(i int) string { return fmt.Sprintf("%s-%d", s.Name, i+1) }

// system returns the system of a node: the one that the node names, or else that of its
// master, or else that of the lock.
func (cfg *Config) system(n Node) (System, error) {
	name := n.System
	for _, m := range cfg.Nodes {
		if name == "" && m.Name == n.ReplicaOf {
			name = m.System
		}
	}
	name = cmp.Or(name, cfg.Lock.Kind.System)
	if s, ok := LookupSystem(name); ok {
		return s, nil
	}
	if name == "" {
		return System{}, fmt.Errorf("the kind of server of %s is not given", n.Name)
	}
	return System{}, &MissingSystem{n.Name, name}
}

// members returns the names of the nodes of a system.
func (cfg *Config) members(of System) []string {
	var names []string
	for _, n := range cfg.Nodes {
		if s, err := cfg.system(n); err == nil && s.Name == of.Name {
			names = append(names, n.Name)
		}
	}
	return names
}

// clusters returns the systems of the world whose nodes form a cluster, in the order of
// their first nodes.
func (cfg *Config) clusters() []System {
	var all []System
	for _, n := range cfg.Nodes {
		s, err := cfg.system(n)
		if err == nil && s.Cluster && !slices.ContainsFunc(all, func(o System) bool { return o.Name == s.Name }) {
			all = append(all, s)
		}
	}
	return all
}

// BadNode is the error of a node whose configuration its system does not allow.
type BadNode struct {
	Node string
	// Field is the wrong field of the node in a scenario: "persistence", "replica-of" or
	// "settings"; "" if it is none of these.
	Field string
	Why   string
}

func (e *BadNode) Error() string { return e.Why }

// MissingSystem is the error of a node whose system this program does not implement.
// Another program may import the implementation.
type MissingSystem struct{ Node, System string }

func (e *MissingSystem) Error() string {
	implemented := slices.DeleteFunc(Systems(), func(s System) bool { return s.Boot == nil })
	return fmt.Sprintf("%s is a server of the kind %q, which this program does not have: it has %s",
		e.Node, e.System, listOr("none; import one, such as github.com/locksim/locksim/servers/redis", implemented, func(s System) string { return s.Name }))
}

// checkNode returns an error if the node's system does not exist, or does not allow the
// node's configuration.
func (cfg *Config) checkNode(n Node) error {
	s, err := cfg.system(n)
	switch {
	case err != nil:
		return err
	case n.Persistence != "" && !slices.Contains(s.Persistences(), n.Persistence):
		return &BadNode{n.Name, "persistence", fmt.Sprintf("%s cannot have persistence %s: %s %s has %s", n.Name, n.Persistence, article(s.Node), s.Node, listOr("no disk", s.Disks, func(d Disk) string { return string(d.Persistence) }))}
	case cfg.countsTokens(n) && cfg.Tokens.Source.System != s.Name:
		return &BadNode{n.Name, "", fmt.Sprintf("tokens: %s counts on nodes of the kind %s, but %s is %s %s", cfg.Tokens.Source.Name, cfg.Tokens.Source.System, n.Name, article(s.Node), s.Node)}
	case n.ReplicaOf != "" && !s.Replicates:
		return &BadNode{n.Name, "replica-of", fmt.Sprintf("%s is a replica of %s, but %s %s cannot be a replica", n.Name, n.ReplicaOf, article(s.Node), s.Node)}
	}
	return s.checkSettings(n)
}

// CheckTTL returns an error if the TTL of the lock is too short for its servers, or not a
// multiple of their unit.
func (cfg *Config) CheckTTL() error {
	system, _ := LookupSystem(cfg.Lock.Kind.System)
	ttl := cfg.Lock.TTL
	if cfg.Lock.Kind.Endless {
		return nil
	}
	if ttl < system.ShortestTTL {
		return fmt.Errorf("%s %s accepts no TTL below %s, but the lock's TTL is %v",
			article(system.Node), system.Node, trace.ShortDuration(system.ShortestTTL), ttl)
	}
	if system.Unit > 0 && ttl%system.Unit != 0 {
		return fmt.Errorf("%s %s counts a TTL in whole units of %s, and %v is not a multiple of that; %v would be one",
			article(system.Node), system.Node, trace.ShortDuration(system.Unit), ttl, max(1, ttl.Round(system.Unit)/system.Unit)*system.Unit)
	}
	return nil
}

// CheckNodes returns an error if the configuration of a node is invalid.
func (cfg *Config) CheckNodes() error {
	for _, n := range cfg.Nodes {
		if err := cfg.checkNode(n); err != nil {
			return err
		}
	}
	return nil
}

// article returns "a" or "an", as a noun requires.
func article(noun string) string {
	if noun != "" && strings.ContainsRune("aeioAEIO", rune(noun[0])) {
		return "an"
	}
	return "a"
}

// listOr returns the names of some items, separated by commas. It returns none if there are
// no items.
func listOr[T any](none string, all []T, name func(T) string) string {
	names := make([]string, len(all))
	for i, item := range all {
		names[i] = name(item)
	}
	return cmp.Or(strings.Join(names, ", "), none)
}
