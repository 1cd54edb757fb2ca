// Package locks knows the locks under test: our own, written on go-redis and the
// process's clock, and unmodified libraries, which thin adapters in modules of their
// own provide.
//
// To add a lock, write one file that registers a [Kind], and for that of a library a
// package that provides it; to add a source of fencing tokens, a file that registers
// a [TokenSource].
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
	// Acquire tries once to get the lock. An error means that the client does
	// not hold it: one that wraps [ErrNotAcquired] when somebody else does or
	// too few nodes granted it.
	Acquire(ctx context.Context) (Lease, error)
}

// Lease is one grant of a lock. What else a lease can do it shows by
// implementing [Expirer], [Extender], [Renewer], [Sessioner], [Tokener] or [Notifier].
type Lease interface {
	// Release gives the lock up.
	Release(ctx context.Context) error
}

// Expirer is a lease that declares when it ends. That of any other lasts for one TTL from the
// call of Acquire or Extend, unless it is a [Sessioner] or a [Notifier].
type Expirer interface {
	// Expires is what one of the process's clocks will read when the lease
	// ends. Libraries that compute with time.Now declare it on the wall clock.
	Expires() fakeclock.Reading
}

// Extender is a lease that can be prolonged.
type Extender interface {
	// Extend prolongs the lease by one more TTL from now. After an error the
	// lease must be taken as lost.
	Extend(ctx context.Context) error
}

// Renewer is a lease that prolongs itself until it is released or lost. A lease that does so
// and is no Renewer is judged by its keys if it is a [Notifier], and otherwise as if nobody had
// prolonged it.
type Renewer interface {
	// Renewals receives the new end of the lease whenever a renewal has
	// succeeded. If nobody has received the one before, the new end takes its
	// place: nobody has to receive. The channel is closed when there will be no
	// more renewals, whatever the reason.
	Renewals() <-chan fakeclock.Reading
}

// Tokener is a lease that comes with a fencing token of its own.
type Tokener interface {
	// Token is the grant's fencing token. Tokens grow from grant to grant; 0
	// means that there is no token for this grant.
	Token() uint64
}

// Sessioner is a lease that lasts as long as a session of its process with the lock's
// servers. If it is no [Expirer], that is until the TTL of the session has passed since the
// process sent the last sign of life of which it knows that it arrived.
type Sessioner interface {
	// Session is the session, in the words in which the servers tell it from others.
	Session() string
}

// Notifier is a lease that notices its own loss. If it is no [Expirer], it lasts until its keys
// have stood for their TTL since they were last set or prolonged.
type Notifier interface {
	// Lost is closed when the lease is known to be lost.
	Lost() <-chan struct{}
}

// Keeper is a lease of a lock that keeps the data as well: what its section reads and writes
// goes by it, and not to the storage. See [Kind.KeepsData].
type Keeper interface {
	// Read returns the version of an object, 0 if there is none.
	Read(ctx context.Context, object string) (version int, err error)
	// Write writes an object and returns its version. The last write of a section makes
	// all of them true, or none, and gives the lock up: until then nothing is written.
	Write(ctx context.Context, object, value string, last bool) (version int, err error)
}

// A Stayer is a [Keeper] whose last write does not give the lock up: it is released as any other.
type Stayer interface {
	Keeper
	Stays()
}

// ErrNotAcquired is what an attempt returns when it did not get the lock.
var ErrNotAcquired = errors.New("lock not acquired")

// ErrNoToken is what a source of fencing tokens returns when it has none to give.
var ErrNoToken = errors.New("no fencing token")

// ErrLost is what Extend and Release return when the lock was not theirs any
// more.
var ErrLost = errors.New("lock lost")

// Options are the settings that a scenario can give a lock. A [Kind] says which
// of them it accepts.
type Options struct {
	// Ask is how a quorum lock asks its nodes: OneByOne, as the specification
	// of Redlock says, or AllAtOnce, as libraries do. Empty is the kind's own
	// choice.
	Ask Ask
	// Clock is the clock by which a lock measures elapsed time. Empty is
	// fakeclock.Monotonic.
	Clock fakeclock.Kind
	// Expects is how long sections are expected to take; 0 is unknown.
	Expects time.Duration
	// Failures is how many requests in a row have to fail before a lock does not ask its
	// nodes any more; 0 is the kind's default. OpenFor is how long it does not; 0 is the
	// kind's default.
	Failures int
	OpenFor  time.Duration
	// Fallback is what a lock does that has found out that its nodes do not
	// answer. Empty is Refuse.
	Fallback Fallback
	// NodeTimeout bounds each request to one node; 0 is the kind's default.
	NodeTimeout time.Duration
	// Holders is how many may hold the lock at one moment; 0 is one.
	Holders int
	// Without names the features that are turned off, each one of the kind's
	// Features.
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

// Fallback is what to do without the nodes of a lock.
type Fallback string

const (
	// Refuse lets the attempt fail: the work waits until the lock is back.
	Refuse Fallback = "refuse"
	// GoAhead lets the work go on without the lock.
	GoAhead Fallback = "go-ahead"
	// Local lets the work go on with a lock of the process's own, of which no other
	// process knows.
	Local Fallback = "local"
)

// Cluster is, in place of the number of a node, the cluster of all nodes, where they keep
// one register together.
const Cluster = -1

// A Slot is one place where a lock keeps a grant: a key on a node, counted from
// 0, or in a [Cluster].
type Slot struct {
	Node int
	Key  string
}

// A Kind is one kind of lock, as the registry knows it.
type Kind struct {
	// Name is what scenarios and the command line call it.
	Name string
	// Title is one line for people.
	Title string
	// System is the kind of server that it is kept on, such as [Redis]; "" is none.
	System string
	// OwnClock says that the lock measures time on Env.Clock only. Faults of
	// the process's clock cannot act on a lock that does not, and a pause of
	// its process is an I/O stall.
	OwnClock bool
	// ReadsClock says that the lock tells by Env.Clock whether somebody else's grant is over,
	// although it also has timers of its own. Faults of the process's clock act on it, and a
	// pause of its process is an I/O stall.
	ReadsClock bool
	// Endless says that a grant never ends by itself: Env.TTL is ignored.
	Endless bool
	// Open says that everybody is let in: there is no exclusion to break.
	Open bool
	// KeepsData says that its leases are [Keeper]s.
	KeepsData bool
	// DataBeside says that its handles are [DataClient]s.
	DataBeside bool
	// AsksOwner says that these can look whether their lock's key still stands: see [Data].
	AsksOwner bool
	// OneAtATime says that a process can have one such lock at a time as far as can be told: what
	// it does in the background for one cannot be told from what it does for another.
	OneAtATime bool
	// Claims are what the lock says of itself, and its runs hold it to. One whose tokens come
	// from a [TokenSource] is not held to bring any.
	Claims trace.Claims
	// Accepts names the options that the kind understands: "ask", "clock", "expects",
	// "failures", "fallback", "holders", "node-timeout", "open-for".
	Accepts []string
	// Features names what can be turned off by Options.Without.
	Features []string
	// Slots says where a lock keeps its grants, given the number of nodes at
	// hand, and on how many slots one value must stand to be a grant.
	Slots func(key string, nodes int) (slots []Slot, quorum int)
	// New makes one client's handle. It is nil as long as nobody has provided it: see
	// [Provide].
	New func(*Env) (Lock, error)
	// Adapter is the package that provides New, for a kind that is registered without.
	Adapter string
	// Library is the Go module of the lock, or of the client that it is written with: what a
	// run comes to depends on its version. "" is go-redis.
	Library string
}

// Redis is the system of locks on Redis.
const Redis = "redis"

var kinds = map[string]Kind{}

// Register adds a kind. It is for package initialisation. Registering one name twice
// panics, because one of the two would silently never run, and so does a kind that
// nobody could make.
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
