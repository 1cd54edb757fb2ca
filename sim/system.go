package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// System is the card of a kind of server that locks are kept on: what everybody else has
// to know of it, as data, and how one node of it is made.
//
// To add a kind of server, write a package in servers that registers its card. What it
// does it tells by events: a lock's keys that are set, prolonged, deleted or that expire,
// each in one of the lock's slots (see [locks.Kind]), are what its grants are read from.
type System struct {
	// Name is what scenarios call it, such as redis; its nodes are redis-1, redis-2 and so
	// on.
	Name string
	// Title is one line for people.
	Title string
	// Node is one of its nodes in a sentence: "Redis node".
	Node string
	// Port is where its nodes listen.
	Port int

	// Disks are what a node can write to its disk, from the weakest to the strongest; the
	// first is what it does if nobody says otherwise. With none a node has no disk.
	Disks []Disk
	// Replicates says that a node can follow another and take its place: its [Server] is a
	// [Replica].
	Replicates bool
	// Demotes says that a node whose place another has taken can be made to follow it: its
	// [Server] is [Demotable].
	Demotes bool
	// Cluster says that its nodes are members of one cluster, which keep one register
	// together. The cluster is a process of the trace by itself, called as the system:
	// what is granted is told of it, once, when most of its members have it (see
	// [Host.Tell]).
	Cluster bool
	// Key, if set, says under what key the grants of a lock of some name are told, where that
	// is not its name.
	Key func(name string) string
	// Revives says that a key whose time is up stands again when its node's clock is set
	// back.
	Revives bool
	// Elapsed says that its nodes count the time that passes: their time of day, which a
	// fault can set, ends nothing.
	Elapsed bool
	// Unit is what its TTLs are whole numbers of; 0 is anything.
	Unit time.Duration
	// Shortest is the shortest TTL that they take; 0 is any.
	Shortest time.Duration
	// Grace, if set, is how much longer than its TTL a grant whose holder has died may keep
	// others out.
	Grace func(ttl time.Duration) time.Duration
	// Failure is the error with which a node answers while the fault fail lasts, unless
	// the fault has another. A server whose Failure is "" cannot fail so.
	Failure string
	// Revokes says that an operator can delete by hand what its nodes keep of a client's
	// claim, and RevokesSessions that an operator can end a client's session: its [Server] is
	// [Revocable]. Unrevoked is what to write instead where neither is simulated, and why.
	Revokes, RevokesSessions bool
	Unrevoked                string
	// Reads are the ways in which data is read that is kept in its cluster; the first is what
	// a client does by itself. With none nothing but locks can be kept there.
	Reads []string
	// Settings are those in which its nodes can be run otherwise.
	Settings []Setting
	// Manners are those in which faults happen to its nodes only, by the name of the kind
	// of fault.
	Manners map[string][]Manner

	// Blind, if set, says what the clients of this build do not see: that an idle connection
	// is over, before they use it again. It is "" if they do.
	Blind func() string

	// Framer cuts what a client sends on one connection into messages.
	Framer func(*Names) Framer
	// Prepare, if set, is called before a world with so many of its nodes begins. What
	// nodes of one world leave for those of others is made here, because a WaitGroup or a
	// channel that is made in a world is bound to it.
	Prepare func(nodes int)
	// Boot makes one node, which runs. Both are nil of a kind that nobody plays: see
	// [ProvideSystem].
	Boot func(*Host) Server
}

// KeyOf is the key under which the grants of a lock of some name are told.
func (s System) KeyOf(name string) string {
	if s.Key == nil {
		return name
	}
	return s.Key(name)
}

// Persistence is what a node writes to its disk, and when: a word of its system's.
type Persistence string

// NoPersistence writes nothing: a node that restarts is empty. It is the same word for all
// systems whose nodes can do without a disk.
const NoPersistence Persistence = "none"

// A Disk is one way to write to the disk.
type Disk struct {
	Persistence
	// Keeps are the crashes that lose nothing of what the node has answered.
	Keeps []trace.Crash
	// Waits says that the node itself sees to what a stall of its disk comes to, be it that it
	// answers only when something is on its disk, or that it writes later than it answers: its
	// server is [Durable].
	Waits bool
	// Stalled is what any other node comes to while its disk stalls, which is no fault of its
	// own, and what to write instead: "it stands still: pause it".
	Stalled string
}

// Persistences are the names of the system's disks.
func (s System) Persistences() []Persistence {
	names := make([]Persistence, len(s.Disks))
	for i, d := range s.Disks {
		names[i] = d.Persistence
	}
	return names
}

// Keeps says whether a crash of a node with some persistence loses nothing of what the
// node has answered.
func (s System) Keeps(p Persistence, how trace.Crash) bool {
	return slices.ContainsFunc(s.Disks, func(d Disk) bool { return d.Persistence == p && slices.Contains(d.Keeps, how) })
}

// disk is how a node with some persistence writes; false if the system has no disks.
func (s System) disk(p Persistence) (Disk, bool) {
	for _, d := range s.Disks {
		if p == "" || d.Persistence == p {
			return d, true
		}
	}
	return Disk{}, false
}

// Waits says whether a node with some persistence, "" is the system's first, sees to what a
// stall of its disk comes to.
func (s System) Waits(p Persistence) bool {
	d, ok := s.disk(p)
	return ok && d.Waits
}

// A Framer cuts what a client has written on one connection into messages, which are
// what faults act on. It may keep what it needs from one to the next, such as the tables
// of a compression.
type Framer interface {
	// Next takes the first message off b, which is not empty. Its size is 0 if b does not
	// hold all of it yet. The bytes may be anything: what makes no sense is one message.
	Next(b []byte) (size int, f Frame)
}

// A Frame is one message of a client's.
type Frame struct {
	// Body is what the server gets of it.
	Body any
	// Text is the message for people. It must be the same in equal runs: see [Names].
	Text string
	// Handshake says that it only sets the connection up, or keeps it up.
	Handshake bool
	// KeepAlive says that it only keeps a session alive: no step of the client's sends it.
	KeepAlive bool
}

// Server is one node of a system. All is called by the loop of the world, one thing at a
// time, and nothing while its process is paused or down, but for what is said.
type Server interface {
	// Accept is called for each new connection.
	Accept(*End) Endpoint
	// ClockChanged says that the node's clocks do not go on as they did. It is called in a
	// pause too, and when the node is down.
	ClockChanged()
	// Crash ends the server; its connections have hung up. What it leaves on its disk
	// depends on how. Restart starts it again.
	Crash(how trace.Crash)
	Restart()
	// Stop ends what goroutines it has, at the end of the run.
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

// A Demotable server can be told that another has taken its place.
type Demotable interface {
	Replica
	// Demote makes it follow the node that has taken its place, and throw away what that one
	// does not have. It reports false if none has, or if it follows one.
	Demote() bool
}

// A Durable server minds its disk, and does something else while it waits for it: that disk
// can stall, from when [Host.DiskStalls] on. If all that it can do is wait, it stands still
// ([Host.AwaitDisk]).
type Durable interface {
	Server
	// DiskBack is called when its disk goes on that has stalled.
	DiskBack()
}

// A Revocable server does what an operator types at it: see the fault [Revoke].
type Revocable interface {
	Server
	// Revoke deletes what the server keeps of a client's claim to the locks of the world, its
	// grants and its places in queues, or ends the sessions that the client's claims are of.
	// It tells so by events whose actor is [trace.Operator]. It reports false if it finds
	// nothing, or may not write: as a member of a cluster that does not lead, or a replica.
	Revoke(client string, session bool) bool
}

// An Attentive server wants to know when what keeps its peers from each other may have begun
// or ended, so that it need not ask them all the time whether they are still there.
type Attentive interface {
	Server
	// Attend says that a fault has struck, or is over, or that a process has stopped or goes
	// on. It is called in the midst of that, also in a pause: a server can plan something
	// (see [Host.At]), and no more. Nothing says what it was: that is for the peers to find
	// out.
	Attend()
}

// attend has the servers attend that want to.
func (w *World) attend() {
	if !w.started {
		return
	}
	for _, p := range w.processes {
		if h := p.host(); h != nil && h.Up() {
			if s, ok := h.server.(Attentive); ok {
				s.Attend()
			}
		}
	}
}

var systems []System

// RegisterSystem adds a kind of server. It is for package initialisation; registering
// one name twice panics, because one of the two would silently never run.
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

// ProvideSystem gives a kind of server that is registered without them its Framer and its Boot:
// what is known of it is where scenarios are read, and what plays it where a program imports it.
// It is for package initialisation; a name that is not registered, or that has them, panics.
func ProvideSystem(name string, framer func(*Names) Framer, boot func(*Host) Server) {
	i := slices.IndexFunc(systems, func(s System) bool { return s.Name == name })
	if i < 0 || systems[i].Boot != nil {
		panic("there is no kind of server that is called " + name + " and that nobody plays")
	}
	systems[i].Framer, systems[i].Boot = framer, boot
}

// Systems lists the kinds of servers that this program knows, in alphabetical order.
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

// NodeName is the name of the i-th of a system's nodes, counted from 0, where nobody
// gives them others.
func (s System) NodeName(i int) string { return fmt.Sprintf("%s-%d", s.Name, i+1) }

// system is the kind of server that a node is: its own, that of its master, or that of
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
		return System{}, fmt.Errorf("nothing says what kind of server %s is", n.Name)
	}
	return System{}, &MissingSystem{n.Name, name}
}

// members are the nodes of a system.
func (cfg *Config) members(of System) []string {
	var names []string
	for _, n := range cfg.Nodes {
		if s, err := cfg.system(n); err == nil && s.Name == of.Name {
			names = append(names, n.Name)
		}
	}
	return names
}

// clusters are the systems whose nodes are one, in the order of their first nodes.
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

// BadNode is the error of a node that its system cannot be.
type BadNode struct {
	Node string
	// Field is what of the node is wrong: "persistence", "replica-of" or "settings"; "" is
	// something else.
	Field string
	Why   string
}

func (e *BadNode) Error() string { return e.Why }

// MissingSystem is the error of a node of a kind that this program does not have, although
// others may.
type MissingSystem struct{ Node, System string }

func (e *MissingSystem) Error() string {
	played := slices.DeleteFunc(Systems(), func(s System) bool { return s.Boot == nil })
	return fmt.Sprintf("%s is a server of the kind %q, which this program does not have: it has %s",
		e.Node, e.System, listOr("none; import one, such as github.com/locksim/locksim/servers/redis", played, func(s System) string { return s.Name }))
}

// checkNode refuses a node that its system cannot be.
func (cfg *Config) checkNode(n Node) error {
	s, err := cfg.system(n)
	switch {
	case err != nil:
		return err
	case n.Persistence != "" && !slices.Contains(s.Persistences(), n.Persistence):
		return &BadNode{n.Name, "persistence", fmt.Sprintf("%s cannot have persistence %s: %s %s has %s", n.Name, n.Persistence, article(s.Node), s.Node, listOr("no disk", s.Disks, func(d Disk) string { return string(d.Persistence) }))}
	case cfg.counts(n) && cfg.Tokens.Source.System != s.Name:
		return &BadNode{n.Name, "", fmt.Sprintf("tokens: %s counts on nodes of the kind %s, and %s is %s %s", cfg.Tokens.Source.Name, cfg.Tokens.Source.System, n.Name, article(s.Node), s.Node)}
	case n.ReplicaOf != "" && !s.Replicates:
		return &BadNode{n.Name, "replica-of", fmt.Sprintf("%s is a replica of %s, but %s %s cannot follow another", n.Name, n.ReplicaOf, article(s.Node), s.Node)}
	}
	return s.checkSettings(n)
}

// CheckTTL refuses a TTL that the servers of the lock cannot count.
func (cfg *Config) CheckTTL() error {
	system, _ := LookupSystem(cfg.Lock.Kind.System)
	ttl := cfg.Lock.TTL
	if cfg.Lock.Kind.Endless {
		return nil
	}
	if ttl < system.Shortest {
		return fmt.Errorf("%s %s takes no TTL below %s, and %v is one",
			article(system.Node), system.Node, trace.ShortDuration(system.Shortest), ttl)
	}
	if system.Unit > 0 && ttl%system.Unit != 0 {
		return fmt.Errorf("%s %s counts a TTL in whole units of %s, and %v is none; %v would be one",
			article(system.Node), system.Node, trace.ShortDuration(system.Unit), ttl, max(1, ttl.Round(system.Unit)/system.Unit)*system.Unit)
	}
	return nil
}

// CheckNodes refuses nodes that their systems cannot be.
func (cfg *Config) CheckNodes() error {
	for _, n := range cfg.Nodes {
		if err := cfg.checkNode(n); err != nil {
			return err
		}
	}
	return nil
}

// article is "a" or "an".
func article(noun string) string {
	if noun != "" && strings.ContainsRune("aeioAEIO", rune(noun[0])) {
		return "an"
	}
	return "a"
}

// listOr lists the names of some things in a sentence; none is what it says if there are none.
func listOr[T any](none string, all []T, name func(T) string) string {
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = name(one)
	}
	return cmp.Or(strings.Join(names, ", "), none)
}
