package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// System is the card of a kind of server that locks are kept on. It holds what other
// packages have to know about it, as data, and how one of its nodes is made.
//
// To add a kind of server, write a package in servers that registers its card. The server
// records events: keys of a lock that are set, prolonged, deleted or that expire, each in
// one of the lock's slots (see [locks.Kind]). The lock's grants are derived from these
// events.
type System struct {
	// Name is its name in scenarios, such as redis. Its nodes are redis-1, redis-2 and so
	// on.
	Name string
	// Title is one line for people.
	Title string
	// Node is one of its nodes in a sentence: "Redis node".
	Node string
	// Port is the port on which its nodes listen.
	Port int

	// Disks are the ways in which a node can write to its disk, from the weakest to the
	// strongest. The first is the default. If there are none, a node has no disk.
	Disks []Disk
	// Replicates reports that a node can follow another and take its place: its [Server] is
	// a [Replica].
	Replicates bool
	// Demotes reports that a node whose place another has taken can be made to follow that
	// other node: its [Server] is [Demotable].
	Demotes bool
	// Cluster reports that its nodes are members of one cluster, which keep one register
	// together. The cluster is a process of its own in the trace, with the name of the
	// system. A grant is recorded for the cluster, once, when a majority of its members
	// have it (see [Host.RecordEvent]).
	Cluster bool
	// Key, if set, returns the key under which the grants of a lock are recorded. Otherwise
	// that key is the lock's name.
	Key func(name string) string
	// RevivesKeys reports that a key whose time has passed is valid again if its node's
	// clock is set back.
	RevivesKeys bool
	// UsesElapsedTime reports that its nodes measure the time that passes. Their time of
	// day, which a fault can set, does not end anything.
	UsesElapsedTime bool
	// Unit is the unit of which its TTLs are whole multiples; 0 is no restriction.
	Unit time.Duration
	// ShortestTTL is the shortest TTL that they accept; 0 is no limit.
	ShortestTTL time.Duration
	// Grace, if set, returns how much longer than its TTL a grant whose holder has died may
	// block other clients.
	Grace func(ttl time.Duration) time.Duration
	// Failure is the error with which a node answers while the fault fail lasts, unless the
	// fault names another. A server whose Failure is "" cannot fail in that way.
	Failure string
	// Revokes reports that an operator can delete by hand what its nodes keep of a client's
	// claim. RevokesSessions reports that an operator can end a client's session. In both
	// cases its [Server] is [Revocable]. If neither is simulated, RevokeAdvice says what to
	// write instead, and why.
	Revokes, RevokesSessions bool
	RevokeAdvice             string
	// Reads are the ways to read data that is kept in its cluster. The first is what a
	// client does by default. If there are none, only locks can be kept there.
	Reads []string
	// Settings are what can be configured on its nodes.
	Settings []Setting
	// Manners are the manners of faults that only happen to its nodes, by the name of the
	// kind of fault.
	Manners map[string][]Manner

	// IdleCheckGap, if set, describes what the clients of this build fail to notice: that
	// an idle connection has ended, before they use it again. It returns "" if they notice.
	IdleCheckGap func() string

	// Framer returns a new framer, which cuts what a client sends on one connection into
	// messages.
	Framer func(*Names) Framer
	// Prepare, if set, is called before a world begins, with the number of its nodes of
	// this kind. It makes what nodes of one world leave for those of others. A WaitGroup or
	// a channel that is made in a world is bound to that world, so they are made here.
	Prepare func(nodes int)
	// Boot makes one node, which runs. Framer and Boot are nil for a kind that is known but
	// not implemented in this program: see [ProvideSystem].
	Boot func(*Host) Server
}

// KeyOf returns the key under which the grants of a lock are recorded.
func (s System) KeyOf(name string) string {
	if s.Key == nil {
		return name
	}
	return s.Key(name)
}

// Persistence is what a node writes to its disk, and when. Its values are words of the
// node's system.
type Persistence string

// NoPersistence writes nothing: a node that restarts is empty. The word is the same for all
// systems whose nodes can run without a disk.
const NoPersistence Persistence = "none"

// A Disk is one way to write to the disk.
type Disk struct {
	Persistence
	// Keeps are the crashes in which nothing is lost of what the node has answered.
	Keeps []trace.Crash
	// HandlesStall reports that the node itself simulates what happens during a stall of
	// its disk. Either it answers only when something is on its disk, or it writes later
	// than it answers. Its server is [Durable].
	HandlesStall bool
	// StallAdvice describes, for any other node, what happens while its disk stalls and
	// what to write instead: "it stands still: pause it".
	StallAdvice string
}

// Persistences returns the names of the system's disks.
func (s System) Persistences() []Persistence {
	names := make([]Persistence, len(s.Disks))
	for i, d := range s.Disks {
		names[i] = d.Persistence
	}
	return names
}

// Keeps reports whether a crash of a node with some persistence loses nothing of what the
// node has answered.
func (s System) Keeps(p Persistence, how trace.Crash) bool {
	return slices.ContainsFunc(s.Disks, func(d Disk) bool { return d.Persistence == p && slices.Contains(d.Keeps, how) })
}

// disk returns how a node with some persistence writes to its disk. It returns false if the
// system has no such disk.
func (s System) disk(p Persistence) (Disk, bool) {
	for _, d := range s.Disks {
		if p == "" || d.Persistence == p {
			return d, true
		}
	}
	return Disk{}, false
}

// HandlesDiskStall reports whether a node with some persistence simulates a stall of its
// disk itself; "" is the system's first persistence.
func (s System) HandlesDiskStall(p Persistence) bool {
	d, ok := s.disk(p)
	return ok && d.HandlesStall
}

// A Framer cuts what a client has written on one connection into messages, which are what
// faults act on. It may keep state from one message to the next, such as the tables of a
// compression.
type Framer interface {
	// Next returns the first message of b, which is not empty. size is 0 if b does not
	// contain all of it yet. The bytes may be anything: bytes that make no sense are one
	// message.
	Next(b []byte) (size int, f Frame)
}

// A Frame is one message of a client.
type Frame struct {
	// Body is what the server receives.
	Body any
	// Text describes the message to people. It must be the same in equal runs: see [Names].
	Text string
	// Handshake reports that the message only sets the connection up, or keeps it open.
	Handshake bool
	// KeepAlive reports that the message only keeps a session alive: it belongs to no step
	// of the client.
	KeepAlive bool
}

// Server is one node of a system. The loop of the world calls all methods, one at a time,
// and none while the node's process is paused or down, except where a comment says
// otherwise.
type Server interface {
	// Accept is called for each new connection.
	Accept(*End) Endpoint
	// ClockChanged is called when the node's clocks have been set, stopped, started, or
	// given another rate. It is also called during a pause, and when the node is down.
	ClockChanged()
	// Crash ends the server; its connections have hung up. What remains on its disk depends
	// on how it crashes. Restart starts it again.
	Crash(how trace.Crash)
	Restart()
	// Stop ends its goroutines, at the end of the run.
	Stop()
}

// A Replica is a server that can follow another node of its system and take its place.
type Replica interface {
	Server
	// Follow makes it the replica of a node. It is called before the story begins.
	Follow(master string)
	// Promote makes it a master, unless it is one.
	Promote()
}

// A Demotable server can be made to follow the node that has taken its place.
type Demotable interface {
	Replica
	// Demote makes it follow the node that has taken its place, and drop all data that that
	// node does not have. It returns false if no node has taken its place, or if it is
	// already a replica.
	Demote() bool
}

// A Durable server simulates what it does while its disk stalls, which it does from when
// [Host.IsDiskStalled] is true. If it can only wait, it stands still ([Host.AwaitDisk]).
type Durable interface {
	Server
	// DiskBack is called when its disk works again after a stall.
	DiskBack()
}

// A Revocable server does what an operator types at it: see the fault [Revoke].
type Revocable interface {
	Server
	// Revoke deletes what the server keeps of a client's claim to the locks of the world:
	// its grants and its places in queues. If session is set, it ends the sessions to which
	// the client's claims belong. It records events whose actor is [trace.Operator]. It
	// returns false if it finds nothing, or if it may not write, as a member of a cluster
	// that does not lead, or as a replica.
	Revoke(client string, session bool) bool
}

// An Attentive server is notified when the reachability of its peers may have changed, so
// it need not keep asking them whether they are alive.
type Attentive interface {
	Server
	// Attend is called when a fault has struck or ended, or when a process has stopped or
	// continues. It is called in the middle of that, also during a pause. In it, a server
	// can schedule something (see [Host.At]), and must do nothing else. It does not learn
	// what happened; the peers have to find out.
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

var systems []System

// RegisterSystem adds a kind of server. It is for package initialisation. Registering one
// name twice panics, because one of the two would never run and nobody would notice.
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

// ProvideSystem sets the Framer and the Boot of a kind of server that was registered
// without them. The card is known wherever scenarios are read, and its implementation only
// where a program imports it. ProvideSystem is for package initialisation. It panics if the
// name is not registered, or already has an implementation.
func ProvideSystem(name string, framer func(*Names) Framer, boot func(*Host) Server) {
	i := slices.IndexFunc(systems, func(s System) bool { return s.Name == name })
	if i < 0 || systems[i].Boot != nil {
		panic("the kind of server " + name + " is not registered, or already has an implementation")
	}
	systems[i].Framer, systems[i].Boot = framer, boot
}

// Systems returns the kinds of servers that this program knows, in alphabetical order.
func Systems() []System { return slices.Clone(systems) }

// LookupSystem finds a kind of server by name.
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

// system returns the kind of server that a node is: its own, that of its master, or that of
// the lock.
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

// clusters returns the systems whose nodes form one cluster, in the order of their first
// nodes.
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

// BadNode is the error of a node that has something which its system does not allow.
type BadNode struct {
	Node string
	// Field is the wrong field of the node: "persistence", "replica-of" or "settings"; ""
	// is something else.
	Field string
	Why   string
}

func (e *BadNode) Error() string { return e.Why }

// MissingSystem is the error of a node of a kind that this program does not implement.
// Other programs may.
type MissingSystem struct{ Node, System string }

func (e *MissingSystem) Error() string {
	played := slices.DeleteFunc(Systems(), func(s System) bool { return s.Boot == nil })
	return fmt.Sprintf("%s is a server of the kind %q, which this program does not have: it has %s",
		e.Node, e.System, listOr("none; import one, such as github.com/locksim/locksim/servers/redis", played, func(s System) string { return s.Name }))
}

// checkNode returns an error if a node has something which its system does not allow.
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

// CheckTTL returns an error if the servers of the lock cannot measure its TTL.
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

// CheckNodes returns an error if a node has something which its system does not allow.
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

// listOr lists the names of some things in a sentence. It returns none if there are none.
func listOr[T any](none string, all []T, name func(T) string) string {
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = name(one)
	}
	return cmp.Or(strings.Join(names, ", "), none)
}
