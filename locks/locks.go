// Package locks has the locks under test. Our own are written on go-redis and the process's
// clock. Unmodified libraries are provided by thin adapters in modules of their own.
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
	// it. The error wraps [ErrNotAcquired] if another client holds it or too few nodes
	// granted it.
	Acquire(ctx context.Context) (Lease, error)
}

// Lease is one grant of a lock. It shows its other abilities by implementing [Expirer],
// [Extender], [Renewer], [Sessioner], [Tokener] or [Notifier].
type Lease interface {
	// Release releases the lock.
	Release(ctx context.Context) error
}

// Expirer is a lease that declares when it ends. Any other lease lasts for one TTL from the
// call of Acquire or Extend, unless it is a [Sessioner] or a [Notifier].
type Expirer interface {
	// Expires returns the reading of one of the process's clocks at the end of the lease.
	// Libraries that use time.Now declare it on the wall clock.
	Expires() fakeclock.Reading
}

// Extender is a lease that can be extended.
type Extender interface {
	// Extend extends the lease to one TTL from now. After an error the lease must be
	// considered lost.
	Extend(ctx context.Context) error
}

// Renewer is a lease that renews itself until it is released or lost. If a lease renews
// itself and is not a Renewer, it is judged by its keys if it is a [Notifier], and
// otherwise as if it were never renewed.
type Renewer interface {
	// Renewals returns a channel that receives the new end of the lease whenever a renewal
	// has succeeded. A new end replaces one that has not been received, so the caller need
	// not receive. The channel is closed when there will be no more renewals, whatever the
	// reason.
	Renewals() <-chan fakeclock.Reading
}

// Tokener is a lease that has a fencing token of its own.
type Tokener interface {
	// Token returns the grant's fencing token. Tokens grow from grant to grant; 0 means
	// that this grant has no token.
	Token() uint64
}

// Sessioner is a lease that lasts as long as a session of its process with the lock's
// servers. If it is not an [Expirer], the session lasts for its TTL after the process sent
// the last sign of life that it knows has arrived.
type Sessioner interface {
	// Session returns the session in the form by which the servers identify it.
	Session() string
}

// Notifier is a lease that notices its own loss. If it is not an [Expirer], it lasts until
// the TTL of its keys has passed since they were last set or extended.
type Notifier interface {
	// Lost returns a channel that is closed when the lease is known to be lost.
	Lost() <-chan struct{}
}

// Keeper is a lease of a lock that also stores the data: its section reads and writes by
// the lease, and not in the storage. See [Kind.KeepsData].
type Keeper interface {
	// Read returns the version of an object, 0 if there is none.
	Read(ctx context.Context, object string) (version int, err error)
	// Write writes an object and returns its version. The last write of a section commits
	// all of its writes, or none, and releases the lock. Until then nothing is written.
	Write(ctx context.Context, object, value string, last bool) (version int, err error)
}

// A Stayer is a [Keeper] whose last write does not release the lock: it is released as any
// other.
type Stayer interface {
	Keeper
	Stays()
}

// ErrNotAcquired is returned by an attempt that did not acquire the lock.
var ErrNotAcquired = errors.New("lock not acquired")

// ErrNoToken is returned by a source of fencing tokens that has no token.
var ErrNoToken = errors.New("no fencing token")

// ErrLost is returned by Extend and Release if the caller no longer held the lock.
var ErrLost = errors.New("lock lost")

// Options are the settings that a scenario can give to a lock. [Kind.Accepts] lists which
// of them a kind accepts.
type Options struct {
	// Ask is how a quorum lock asks its nodes: OneByOne, as the specification of Redlock
	// says, or AllAtOnce, as libraries do. "" is the kind's default.
	Ask Ask
	// Clock is the clock with which a lock measures elapsed time. "" is
	// fakeclock.Monotonic.
	Clock fakeclock.Kind
	// Expects is how long sections are expected to take; 0 is unknown.
	Expects time.Duration
	// Failures is how many requests in a row have to fail before a lock stops asking its
	// nodes; 0 is the kind's default. OpenFor is for how long it stops; 0 is the kind's
	// default.
	Failures int
	OpenFor  time.Duration
	// Fallback is what a lock does when its nodes do not answer. "" is Refuse.
	Fallback Fallback
	// NodeTimeout bounds each request to one node; 0 is the kind's default.
	NodeTimeout time.Duration
	// Holders is how many clients may hold the lock at the same time; 0 is one.
	Holders int
	// Without names the features that are turned off, each one of the kind's Features.
	Without []string
}

// Has reports whether a feature is on.
func (o Options) Has(feature string) bool { return !slices.Contains(o.Without, feature) }

// Ask is an order in which a lock asks its nodes.
type Ask string

const (
	OneByOne  Ask = "one-by-one"
	AllAtOnce Ask = "all-at-once"
)

// Fallback is what a lock does without its nodes.
type Fallback string

const (
	// Refuse makes the attempt fail: the work waits until the lock is available again.
	Refuse Fallback = "refuse"
	// GoAhead lets the work continue without the lock.
	GoAhead Fallback = "go-ahead"
	// Local lets the work continue with a local lock, of which no other process knows.
	Local Fallback = "local"
)

// Cluster is used instead of a node's number for the cluster of all nodes, if they keep one
// register together.
const Cluster = -1

// A Slot is one place where a lock stores a grant: a key on a node, counted from 0, or on a
// [Cluster].
type Slot struct {
	Node int
	Key  string
}

// A Kind is one kind of lock in the registry.
type Kind struct {
	// Name is the name in scenarios and on the command line.
	Name string
	// Title is one line for people.
	Title string
	// System is the kind of server that stores the lock, such as [Redis]; "" is none.
	System string
	// OwnClock reports that the lock measures time only on Env.Clock. Otherwise faults of
	// the process's clock cannot act on the lock, and a pause of its process is an I/O
	// stall.
	OwnClock bool
	// ReadsClock reports that the lock uses Env.Clock to decide whether another client's
	// grant has ended, although it also has timers of its own. Faults of the process's
	// clock act on it, and a pause of its process is an I/O stall.
	ReadsClock bool
	// Endless reports that a grant never ends by itself: Env.TTL is ignored.
	Endless bool
	// Open reports that every client is granted the lock: there is no exclusion to break.
	Open bool
	// KeepsData reports that its leases are [Keeper]s.
	KeepsData bool
	// HasDataClient reports that its handles are [DataClient]s.
	HasDataClient bool
	// ChecksOwner reports that these can check whether their lock's key still exists: see
	// [Data.ChecksOwner].
	ChecksOwner bool
	// OneAtATime reports that a process can have only one such lock at a time in a
	// simulation, because its background work for one lock cannot be distinguished from
	// that for another.
	OneAtATime bool
	// Claims are the lock's own promises; its runs are checked against them. If its tokens
	// come from a [TokenSource], the lock need not bring any itself.
	Claims trace.Claims
	// Accepts names the options that the kind understands: "ask", "clock", "expects",
	// "failures", "fallback", "holders", "node-timeout", "open-for".
	Accepts []string
	// Features names what Options.Without can turn off.
	Features []string
	// Slots returns where a lock stores its grants, given the number of nodes, and on how
	// many slots the same value must be stored to be a grant.
	Slots func(key string, nodes int) (slots []Slot, quorum int)
	// New makes one client's handle. It is nil until a package provides it: see [Provide].
	New func(*Env) (Lock, error)
	// Adapter is the package that provides New, for a kind that is registered without New.
	Adapter string
	// Library is the Go module of the lock, or of the client that it is written with. The
	// result of a run depends on its version. "" is go-redis.
	Library string
}

// Redis is the system of locks on Redis.
const Redis = "redis"

var kinds = map[string]Kind{}

// Register adds a kind. It is for package initialisation. It panics if a name is registered
// twice, because one of the two would silently never run. It also panics if the kind has
// neither New nor Adapter.
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
