package sim

import (
	"context"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// Config describes a world.
type Config struct {
	Name, Variant string
	// Seed selects the latencies and every random value. Worlds with equal
	// configurations and seeds have equal traces.
	Seed uint64

	// Lock is what the clients compete for. A zero Lock is a world whose
	// clients use none (see Client.Run).
	Lock    Lock
	Nodes   []Node
	Clients []Client
	// Services stand between clients and the storage.
	Services []Service
	Storage  Storage
	// Tokens says where fencing tokens come from.
	Tokens  Tokens
	Network Network
	Faults  []Fault

	// Schedule says when the clients' jobs are due; one without periods is none. With it a
	// client has a section in each period that its wall clock shows, and asks for the lock
	// in no other.
	Schedule trace.Schedule

	// Horizon is the true time at which the run is cut off.
	Horizon time.Duration
	// ProgressWithin is handed to the trace for the progress property; 0 means
	// until the end of the run.
	ProgressWithin time.Duration

	// Doubts are handed to the trace.
	Doubts []string

	// Disturb, if set, is called by the processes' goroutines whenever they ask
	// something of the world. Tests use it to shake the scheduler, which must not
	// change anything.
	Disturb func()
}

// Lock is the lock of a world.
type Lock struct {
	Kind locks.Kind
	// Key names the lock of the clients that name none of their own.
	Key     string
	TTL     time.Duration
	Options locks.Options
}

// Node is a server that locks, or counters of tokens, are kept on.
type Node struct {
	Name string
	// System is the kind of server; "" is that of its master, or of the world's lock.
	System string
	// Persistence is what it writes to its disk; "" is the first of its system's.
	Persistence Persistence
	// ReplicaOf names the node's master; "" is a master.
	ReplicaOf string
	// Lag delays each change on its way from the master to a replica, on top of
	// the network.
	Lag time.Duration
	// Apart is a node on which no lock is kept: it counts fencing tokens.
	Apart bool
	// Settings are those of its system's in which it runs otherwise, each as NAME=VALUE.
	Settings []string
}

// Tokens is where the fencing tokens of grants come from. A source takes the
// place of the tokens that leases bring of their own.
type Tokens struct {
	// Source mints them; a zero Source leaves it to the lease, or else to the
	// oracle.
	Source locks.TokenSource
	// Nodes names the nodes that count them; none are those of the lock.
	Nodes []string
}

// Service is a process that passes requests on to the storage, or to the next
// service on their way there.
type Service struct {
	Name string
	// DropsToken passes requests on without their fencing tokens.
	DropsToken bool
}

// Client is a client of the lock and what it does.
type Client struct {
	Name string
	// Starts is when it begins; the zero point is the start of the run.
	Starts trace.Point
	// Key names the client's lock; "" is that of [Lock].
	Key string
	// Does is what it does in a section; nil is read x, work, write x.
	Does []trace.Task
	// Sections is how many critical sections it completes before it is done; 0
	// is one. With a schedule it is done after the last period.
	Sections int
	// Attempts bounds the calls of Acquire for one section; 0 is no bound.
	Attempts int
	// RetryEvery is the pause between attempts, from which Retry makes its own.
	RetryEvery time.Duration
	Retry      locks.Retry
	// Works is how long the work between read and write takes. WorksUntil, if
	// set, is a point until which it goes on at least.
	Works      time.Duration
	WorksUntil trace.Point
	// ExtendsEvery has the work extend the lease that often; 0 never does.
	ExtendsEvery time.Duration
	// GivesUp bounds the wait for the storage's answer; 0 waits for ever.
	GivesUp time.Duration
	// Resends sends a request again that it has given up on, or whose connection
	// was reset.
	Resends bool
	// StartsOver begins a section again, with a new acquire, when the storage
	// refused its read or write.
	StartsOver bool

	// KeepsFor is how long it keeps the lock at least, from the grant on, before it
	// releases it; 0 releases it when the work is done.
	KeepsFor time.Duration

	// Cancels is a point, and each time that it is reached the client cancels the
	// context of the call of the lock that it is in: acquire, extend or release. It
	// goes on as after any call that failed. The zero point is never.
	Cancels trace.Point
	// CancelsAfter is the deadline of the context of each call of the lock, on the
	// client's monotonic clock; 0 is none. A lease that lives as long as the context of
	// its acquire ends then.
	CancelsAfter time.Duration

	// Run, if set, replaces the critical section by a program of its own.
	Run func(ctx context.Context, p *Program) error
}

// does is what the client does in a section.
func (c Client) does() []trace.Task {
	if c.Does == nil {
		return trace.DefaultTasks()
	}
	return c.Does
}

// readOnly reports that the client never writes in its sections, as far as one
// can know beforehand.
func (c Client) readOnly() bool { return c.Run == nil && c.writes() == 0 }

// writes is how many writes the client is to make in each of its sections; 0 if nobody knows
// beforehand.
func (c Client) writes() int {
	n := 0
	for _, t := range c.does() {
		if c.Run == nil && t.Step == trace.Write {
			n++
		}
	}
	return n
}

// Storage is the protected resource.
type Storage struct {
	Fencing storage.Policy
	// InCluster keeps the objects in the cluster that keeps the lock: there is no process of
	// the storage then. The clients read and write with the lock's own client library (see
	// [locks.DataClient]).
	InCluster bool
	// Reads is how it is read there: one of the system's Reads, "" is the first. Apart has
	// the clients do that with a client of its own, on another member (see [locks.Data]).
	Reads string
	Apart bool
	// CopyLag is how far the storage's copy is behind it. The copy takes over
	// when the storage crashes by [FailOver].
	CopyLag time.Duration
}

// Network is how long messages take: each one between Min and Max, both
// included, uniformly.
type Network struct {
	Min, Max time.Duration
	// Paths are the pairs of processes that are nearer or further apart. Of two
	// that speak of one pair the last counts.
	Paths []Path
}

// Path is how long messages take between two processes, either way.
type Path struct {
	Between, And string
	Min, Max     time.Duration
}

// Fault is one fault: when it strikes, what it does and when it ends.
type Fault struct {
	// Strikes is when the fault begins to act. An [Action] that waits for its
	// own moment, as a held message does, acts from here on.
	Strikes trace.Trigger
	// Until and For end the fault; a zero Until and For leave it for good.
	Until trace.Point
	For   time.Duration
	// ByClockOf names the process on whose wall clock For is measured; "" measures
	// true time.
	ByClockOf string
	Action
	// Text is how the fault is told to people, e.g. "pause client-1".
	Text string
}
