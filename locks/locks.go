// Package locks has the locks under test. Our own locks on Redis are in this package,
// written on go-redis and the process's clock. All other locks are only registered here,
// and packages in other modules make them: thin adapters of unmodified libraries, and our
// own locks on other systems.
//
// To add a lock, write one file that registers a [Kind]; for the lock of a library, also
// write a package that provides it. To add a source of fencing tokens, write a file that
// registers a [TokenSource].
package locks

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// Lock is one client's handle on one named lock.
type Lock interface {
	// Acquire tries once to acquire the lock. An error means that the client does not hold
	// the lock. The error wraps [ErrNotAcquired] if another client holds the lock or too
	// few nodes granted it.
	Acquire(ctx context.Context) (Lease, error)
}

// Lease is one grant of a lock. The interfaces that a lease implements show what else it
// can do: [Expirer], [Extender], [Renewer], [Sessioner], [Tokener] and [Notifier].
type Lease interface {
	// Release releases the lock.
	Release(ctx context.Context) error
}

// Expirer is a lease that declares when it ends. A lease with a method Expires() time.Time
// declares its end too, by the wall clock; see [EndOf]. A lease that declares no end, and is
// neither a [Sessioner] nor a [Notifier], lasts for one TTL from the call of Acquire or
// Extend.
type Expirer interface {
	// Expires returns the end of the lease, as a reading of one of the process's clocks.
	// Libraries that use time.Now give it by the wall clock.
	Expires() fakeclock.Reading
}

// Extender is a lease that can be extended.
type Extender interface {
	// Extend extends the lease to one TTL from now. If Extend returns an error, the caller
	// must consider the lease lost.
	Extend(ctx context.Context) error
}

// Renewer is a lease that renews itself until it is released or lost. A lease that renews
// itself need not be a Renewer. Then the checks judge it by its keys if it is a [Notifier],
// and otherwise as if it were never renewed.
type Renewer interface {
	// Renewals returns a channel that receives the new end of the lease whenever a renewal
	// has succeeded. The caller need not receive: if an end is still in the channel at the
	// next renewal, the new end replaces it. The channel is closed when there will be no
	// more renewals, whatever the reason.
	Renewals() <-chan fakeclock.Reading
}

// Tokener is a lease that has a fencing token of its own.
type Tokener interface {
	// Token returns the grant's fencing token. Tokens grow from grant to grant; 0 means
	// that this grant has no token.
	Token() uint64
}

// Sessioner is a lease that lasts as long as a session of its process with the lock's servers.
// If the lease is not an [Expirer], it is taken to end one TTL after the process sent the last
// sign of life that the servers acknowledged.
type Sessioner interface {
	// Session returns the session in the form by which the servers identify it.
	Session() string
}

// Notifier is a lease that notices its own loss. If the lease is not an [Expirer], it ends
// one TTL after its keys were last set or extended.
type Notifier interface {
	// Lost returns a channel that is closed when the lease is known to be lost.
	Lost() <-chan struct{}
}

// Keeper is a lease of a lock that also stores the data. Its critical section reads and writes the
// data by the methods of the lease, and not in the storage. See [Kind.KeepsData].
type Keeper interface {
	// Read returns the version of an object; 0 means that the object does not exist.
	Read(ctx context.Context, object string) (version int, err error)
	// Write writes an object and returns its version. No write takes effect until the last
	// write of the section. The last write commits all writes of the section, or none of
	// them, and releases the lock.
	Write(ctx context.Context, object, value string, last bool) (version int, err error)
}

// A Stayer is a [Keeper] whose last write does not release the lock: the client must call
// Release.
type Stayer interface {
	Keeper
	Stays()
}

// ErrNotAcquired is returned by an attempt that did not acquire the lock.
var ErrNotAcquired = errors.New("lock not acquired")

// ErrNoToken is returned by a source of fencing tokens that has no token.
var ErrNoToken = errors.New("no fencing token")

// ErrLost is returned by Extend and Release if the caller no longer holds the lock.
var ErrLost = errors.New("lock lost")

// Options are the settings that a scenario can give to a lock. [Kind.Accepts] lists those
// that a kind accepts.
type Options struct {
	// Ask is the order in which a quorum lock asks its nodes: OneByOne, as the
	// specification of Redlock says, or AllAtOnce, as libraries do. "" is the kind's
	// default.
	Ask Ask
	// Clock is the clock with which a lock measures elapsed time. "" is
	// fakeclock.Monotonic.
	Clock fakeclock.Kind
	// Expects is how long sections are expected to take; 0 means unknown.
	Expects time.Duration
	// Failures is how many requests in a row have to fail before a lock stops asking its
	// nodes; 0 is the kind's default. OpenFor is how long the lock then does not ask; 0 is
	// the kind's default.
	Failures int
	OpenFor  time.Duration
	// Fallback is the behaviour of a lock while its nodes do not answer. "" is Refuse.
	Fallback Fallback
	// NodeTimeout bounds each request to one node; 0 is the kind's default.
	NodeTimeout time.Duration
	// Holders is how many clients may hold the lock at the same time; 0 is one.
	Holders int
	// Without names the features that are turned off, each one of the kind's Features.
	Without []string
}

// Has reports whether a feature is turned on.
func (o Options) Has(feature string) bool { return !slices.Contains(o.Without, feature) }

// Ask is an order in which a lock asks its nodes.
type Ask string

const (
	OneByOne  Ask = "one-by-one"
	AllAtOnce Ask = "all-at-once"
)

// Fallback is the behaviour of a lock while its nodes do not answer.
type Fallback string

const (
	// Refuse makes every attempt fail: the work waits until the lock is available again.
	Refuse Fallback = "refuse"
	// GoAhead lets the work continue without the lock.
	GoAhead Fallback = "go-ahead"
	// Local lets the work continue with a local lock, of which no other process knows.
	Local Fallback = "local"
)

// Cluster is the Node of a slot that is not on one node: the nodes agree on one common
// state, and the key is in that state.
const Cluster = -1

// A Slot is one place where a lock stores a grant: a key on a node. Nodes are counted from
// 0; Node can also be [Cluster].
type Slot struct {
	Node int
	Key  string
}

// A Kind is one kind of lock, as it is registered: its name, what it can do, and how to
// make it.
type Kind struct {
	// Name is the name in scenarios and on the command line.
	Name string
	// Title is one line for people.
	Title string
	// System is the kind of server that stores the lock, such as [Redis]; "" is none.
	System string
	// OwnClock reports that the lock measures time only on Env.Clock, and has no timers of its
	// own. It is true for a lock that measures no time. If it is false, faults of the process's
	// clock cannot act on the lock, unless ReadsClock is true, and a pause of its process is
	// simulated as a stall of all its requests.
	OwnClock bool
	// ReadsClock reports that the lock has timers of its own, but uses Env.Clock to decide
	// whether another client's grant has ended. Faults of the process's clock act on such a
	// lock. A pause of its process is simulated as a stall of all its requests.
	ReadsClock bool
	// Endless reports that a grant never ends by itself: Env.TTL is ignored.
	Endless bool
	// Renews reports that the lock renews a grant by itself while its client runs and
	// reaches the servers. So the grant of a healthy client does not end before its release.
	Renews bool
	// ConfirmedWithin is how long an acquire waits for a replica to confirm the grant; if none
	// does, the acquire fails. It is 0 if the lock needs no replica.
	ConfirmedWithin time.Duration
	// TakenOver reports that no server ends a grant: only another client ends it, after
	// that client's own clock has counted the whole duration of the grant.
	TakenOver bool
	// Open reports that the lock excludes nobody: it is granted to every client that asks,
	// as when there is no lock.
	Open bool
	// CannotExtend reports that a client cannot extend a lease of the lock: the leases end,
	// and they are neither [Extender]s nor [Sessioner]s.
	CannotExtend bool
	// KeepsData reports that the lock's leases are [Keeper]s.
	KeepsData bool
	// HasDataClient reports that the lock's handles are [DataClient]s.
	HasDataClient bool
	// ChecksOwner reports that the handles, as [DataClient]s, can check whether their
	// lock's key still exists: see [Data.ChecksOwner].
	ChecksOwner bool
	// OneAtATime reports that in a simulation a process can have only one lock of this kind
	// at a time, because the simulator cannot say which of several locks a message in the
	// background belongs to.
	OneAtATime bool
	// Claims are the promises that the lock makes about itself; its runs are checked
	// against them. A claim that its leases have tokens is also kept if the tokens come
	// from a [TokenSource].
	Claims trace.Claims
	// Accepts names the options that the kind understands: "ask", "clock", "expects",
	// "failures", "fallback", "holders", "node-timeout", "open-for".
	Accepts []string
	// Features are the names that Options.Without can turn off.
	Features []string
	// Slots returns where a lock stores its grants, given the number of nodes, and the
	// quorum: on how many slots the same value must be stored to be a grant. It returns nil
	// and 0 if no server keeps grants as keys.
	Slots func(key string, nodes int) (slots []Slot, quorum int)
	// New makes one client's handle. It is nil until a package provides it: see [Provide].
	New func(*Env) (Lock, error)
	// Adapter is the package that provides New for a kind that is registered without it.
	Adapter string
	// Library is the Go module of the lock, or of the client that the lock is written with;
	// "" is go-redis. The result of a run depends on the version of that module.
	Library string
}

// Redis is the system of locks on Redis.
const Redis = "redis"

var kinds = map[string]Kind{}

// Register adds a kind. It must be called only while packages are initialised. It panics if
// two kinds have the same name, because one of them would silently never run. It also
// panics if the kind has neither New nor Adapter.
func Register(k Kind) {
	if k.New == nil && k.Adapter == "" {
		panic("locks: " + k.Name + " has neither a New nor an Adapter that provides it")
	}
	if _, dup := kinds[k.Name]; dup {
		panic("locks: two kinds are called " + k.Name)
	}
	kinds[k.Name] = k
}

// Lookup finds a kind by name.
func Lookup(name string) (Kind, bool) {
	k, ok := kinds[name]
	return k, ok
}

// Names lists the registered kinds in alphabetical order.
func Names() []string {
	names := make([]string, 0, len(kinds))
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
