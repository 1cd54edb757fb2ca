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
	// Seed selects the latencies and every random value. Worlds with equal configurations
	// and seeds have equal traces.
	Seed uint64

	// Lock is what the clients compete for. In a world with a zero Lock the clients use
	// none (see Client.Run).
	Lock    Lock
	Nodes   []Node
	Clients []Client
	// Services stand between clients and the storage.
	Services []Service
	Storage  Storage
	// Tokens is the source of the fencing tokens.
	Tokens  Tokens
	Network Network
	Faults  []Fault

	// Schedule is when the clients' jobs are due; without periods there is no schedule.
	// With a schedule a client has one section in each period that its wall clock shows,
	// and acquires the lock only for that.
	Schedule trace.Schedule

	// Horizon is the true time at which the run is cut off.
	Horizon time.Duration
	// ProgressWithin is copied to the trace, for the progress property; 0 means until the
	// end of the run.
	ProgressWithin time.Duration

	// Doubts are copied to the trace.
	Doubts []string

	// Disturb, if set, is called by the processes' goroutines at every request to the
	// world. Tests use it to disturb the scheduler, which must not change the trace.
	Disturb func()
}

// Lock is the lock of a world.
type Lock struct {
	Kind locks.Kind
	// Key names the lock of the clients that have no Key of their own.
	Key     string
	TTL     time.Duration
	Options locks.Options
}

// Node is a server that keeps locks, or counters of tokens.
type Node struct {
	Name string
	// System is the kind of server; "" means that of its master, or that of the world's
	// lock.
	System string
	// Persistence is what it writes to its disk; "" is the first of its system's disks.
	Persistence Persistence
	// ReplicaOf names the node's master; it is "" for a master.
	ReplicaOf string
	// Lag delays each change on its way from the master to a replica, in addition to the
	// network's latency.
	Lag time.Duration
	// CountersOnly is set for a node that keeps no lock: it only counts fencing tokens.
	CountersOnly bool
	// Settings are the settings of its system that differ from the defaults, each as
	// NAME=VALUE.
	Settings []string
}

// Tokens is where the fencing tokens of grants come from. A source replaces the tokens that
// leases have themselves.
type Tokens struct {
	// Source mints the tokens. With a zero Source the tokens are those of the lease, or
	// else those of the oracle.
	Source locks.TokenSource
	// Nodes names the nodes that count the tokens; if empty, the nodes of the lock do.
	Nodes []string
}

// Service is a process that passes requests on to the storage, or to the next
// service on their way there.
type Service struct {
	Name string
	// DropsToken makes the service pass requests on without their fencing tokens.
	DropsToken bool
}

// Client is a client of the lock and what it does.
type Client struct {
	Name string
	// Starts is when the client begins; the zero point is the start of the run.
	Starts trace.Point
	// Key names the client's lock; "" is that of [Lock].
	Key string
	// Does is what it does in a section; nil is read x, work, write x.
	Does []trace.Task
	// Sections is how many critical sections it completes before it is done; 0 is one. With
	// a schedule it is done after the last period.
	Sections int
	// Attempts bounds the calls of Acquire for one section; 0 is no bound.
	Attempts int
	// RetryEvery is the pause between attempts. Retry computes the actual pauses from it.
	RetryEvery time.Duration
	Retry      locks.Retry
	// Works is how long the work between read and write takes. WorksUntil, if set, is a
	// point before which the work does not end.
	Works      time.Duration
	WorksUntil trace.Point
	// ExtendsEvery is how often the lease is extended during the work; 0 is never.
	ExtendsEvery time.Duration
	// GivesUp bounds the wait for the storage's answer; 0 waits without a limit.
	GivesUp time.Duration
	// Resends makes the client send a request again after it has given up on it, or after
	// its connection was reset.
	Resends bool
	// StartsOver makes the client begin the section again, with a new acquire, when the
	// storage has refused its read or write.
	StartsOver bool

	// KeepsFor is how long the client keeps the lock at least, counted from the grant; 0
	// releases it when the work is done.
	KeepsFor time.Duration

	// Cancels is a point. Each time that it is reached, the client cancels the context of
	// its current call of the lock: acquire, extend or release. It then continues as after
	// any call that failed. The zero point is never reached.
	Cancels trace.Point
	// CancelsAfter is the deadline of the context of each call of the lock, on the client's
	// monotonic clock; 0 is none. A lease that lives as long as the context of its acquire
	// ends at that deadline.
	CancelsAfter time.Duration

	// Run, if set, is a program that replaces the critical sections.
	Run func(ctx context.Context, p *Program) error
}

// does returns what the client does in a section.
func (c Client) does() []trace.Task {
	if c.Does == nil {
		return trace.DefaultTasks()
	}
	return c.Does
}

// readOnly reports whether the client never writes in its sections, as far as the
// configuration shows.
func (c Client) readOnly() bool { return c.Run == nil && c.writes() == 0 }

// writes returns how many writes the client makes in each of its sections. It is 0 if the
// configuration does not show that.
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
	// InCluster keeps the objects in the cluster that keeps the lock; there is no storage
	// process then. The clients read and write with the lock's own client library (see
	// [locks.DataClient]).
	InCluster bool
	// Reads is how the objects are read in the cluster: one of the system's Reads; "" is
	// the first. OwnClient makes each client of the lock do that with another client of the
	// library, connected to another member (see [locks.Data]).
	Reads     string
	OwnClient bool
	// CopyLag is how far the storage's copy is behind it. The copy takes over when the
	// storage crashes by [trace.FailOver].
	CopyLag time.Duration
}

// Network is how long messages take: each one takes a time between Min and Max, both
// included, drawn uniformly.
type Network struct {
	Min, Max time.Duration
	// Paths are the pairs of processes with other latencies. If two paths name the same
	// pair, the last counts.
	Paths []Path
}

// Path is how long messages take between two processes, in both directions.
type Path struct {
	Between, And string
	Min, Max     time.Duration
}

// Fault is one fault: when it strikes, what it does and when it ends.
type Fault struct {
	// Strikes is when the fault begins to act. An [Action] that waits for its own moment,
	// as a held message does, begins to wait at Strikes.
	Strikes trace.Trigger
	// Until and For end the fault. If both are zero, it does not end.
	Until trace.Point
	For   time.Duration
	// ByClockOf names the process on whose wall clock For is measured; "" means true time.
	ByClockOf string
	Action
	// Text describes the fault to people, e.g. "pause client-1".
	Text string
}
