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

	// Lock is the lock that the clients compete for. In a world with a zero Lock there is no lock,
	// and each client has its own program (see [Client.Run]).
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

	// Schedule divides the time into periods; a zero Schedule has none. With a schedule, a
	// client tries to have one section in each period, as its own wall clock shows it.
	Schedule trace.Schedule

	// Horizon is the true time at which the run is cut off.
	Horizon time.Duration
	// MaxEvents is how many events the run may have before it ends with [ErrTooMuch]. 0, or
	// more than a trace can hold, means as many as a trace can hold.
	MaxEvents int
	// ProgressWithin is the time limit of the property progress; 0 means until the end of
	// the run. It is copied to the trace.
	ProgressWithin time.Duration

	// Overrides are the values that differ from those of the scenario, such as
	// "lock.ttl=10s". They are copied to the trace; see [trace.Trace].
	Overrides []string
	// Unscripted says that the run need not follow the story of its scenario. It is copied
	// to the trace; see [trace.Trace]. Such a run ends when only clients that have not
	// started are left, and nothing is scheduled that could start them.
	Unscripted bool
	// Doubts are reasons, known before the run, why it is inconclusive. They are copied to the
	// trace.
	Doubts []string

	// Disturb, if set, is called by the clients' goroutines at every request to the world.
	// Tests use it to vary the order in which goroutines run, which must not change the
	// trace.
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
	// Persistence is what the node writes to its disk; "" means the default of its system.
	Persistence Persistence
	// ReplicaOf is the name of the node's master; "" for a node that is a master itself.
	ReplicaOf string
	// Lag delays each change on its way from the master to a replica, in addition to the
	// network's latency.
	Lag time.Duration
	// CountersOnly is set for a node that keeps no lock and only counts fencing tokens.
	CountersOnly bool
	// Settings are the settings of its system that differ from the defaults, each as
	// NAME=VALUE.
	Settings []string
}

// Tokens is where the fencing tokens of grants come from.
type Tokens struct {
	// Source mints the tokens, which replace the tokens of the leases. With a zero Source, the
	// tokens are those of the leases. If the leases have none, the oracle, which orders the grants
	// as a perfect lock service would have made them, gives them tokens in that order.
	Source locks.TokenSource
	// Nodes are the names of the nodes that count the tokens. If it is empty, the nodes of
	// the lock count them.
	Nodes []string
}

// Service is a process between the clients and the storage. It passes requests on to the
// storage, or to the next service.
type Service struct {
	Name string
	// DropsToken makes the service remove the fencing tokens from the requests that it passes
	// on.
	DropsToken bool
}

// Client is a client of the lock and what it does.
type Client struct {
	Name string
	// Starts is the point at which the client begins; the zero point is the start of the
	// run.
	Starts trace.Point
	// Key is the name of the client's lock; "" means the Key of [Lock].
	Key string
	// Does is what the client does in a section; nil means read x, work, write x.
	Does []trace.Task
	// Sections is how many critical sections the client completes before it is done; 0
	// means one. With a schedule, the client is done after the last period.
	Sections int
	// Attempts bounds the calls of Acquire for one section; 0 means no bound.
	Attempts int
	// RetryEvery is the base interval between two attempts. Retry computes the actual pause
	// from this interval, for example with jitter.
	RetryEvery time.Duration
	Retry      locks.Retry
	// Works is how long each work step takes. WorksUntil, if set, is a point: the work does not end
	// before the point is reached.
	Works      time.Duration
	WorksUntil trace.Point
	// ExtendsEvery is the time between two extends of the lease during the work; 0 means that the
	// client does not extend its lease.
	ExtendsEvery time.Duration
	// GivesUp bounds how long the client waits for an answer of the storage; 0 means no
	// bound.
	GivesUp time.Duration
	// Resends makes the client send a request to the storage again if it got no answer in
	// time, or if the connection was reset or refused.
	Resends bool
	// StartsOver makes the client begin the section again, with a new acquire, when the
	// storage has refused its read or write.
	StartsOver bool

	// KeepsFor is how long the client keeps the lock at least, from the grant on. With 0
	// the client releases the lock when it has done its tasks.
	KeepsFor time.Duration

	// Cancels is a point. Each time that the point is reached, the client cancels the context of
	// its current call of the lock: acquire, extend or release. If that call fails, the client
	// continues as after any failure. The zero point is never reached.
	Cancels trace.Point
	// CancelsAfter is the timeout of the context of each call of the lock, on the client's
	// monotonic clock; 0 means none. Some locks bind the lease to the context of acquire;
	// such a lease ends at that timeout.
	CancelsAfter time.Duration

	// Run, if set, is the client's program. The client then runs no sections by itself.
	Run func(ctx context.Context, p *Program) error
}

// does returns what the client does in a section, with the default filled in.
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

// Storage is the storage that the lock protects.
type Storage struct {
	// Fencing is how the storage checks fencing tokens.
	Fencing storage.Policy
	// InCluster keeps the objects in the cluster that keeps the lock. There is no storage
	// process then: the clients read and write with the lock's own client library (see
	// [locks.DataClient]).
	InCluster bool
	// Reads is how clients read objects in the cluster: one of the system's Reads; "" means
	// the first. OwnClient makes a client read and write through a second client of the
	// library, which is connected to another member than the lock's client (see
	// [locks.Data]).
	Reads     string
	OwnClient bool
	// CopyLag is the time by which the storage's copy lags behind the storage. The copy takes
	// over if the storage crashes in the manner [trace.FailOver].
	CopyLag time.Duration
}

// Network is how long messages take. Each message takes a random time between Min and Max,
// both included, with uniform distribution.
type Network struct {
	Min, Max time.Duration
	// Paths are pairs of processes with other latencies. If two paths name the same pair,
	// the last one is used.
	Paths []Path
}

// Path is how long messages take between two processes, in both directions.
type Path struct {
	Between, And string
	Min, Max     time.Duration
}

// Fault is one fault: when it strikes, what it does and when it ends.
type Fault struct {
	// Strikes is when the fault strikes. A patient fault (see [FaultKind.IsPatient]) begins at
	// Strikes to wait for a message or request, and strikes when that comes.
	Strikes trace.Trigger
	// The fault ends when the point Until is reached, or when the time For has passed. If both are
	// zero, it does not end.
	Until trace.Point
	For   time.Duration
	// ByClockOf is the name of the process whose wall clock measures For; "" means true
	// time.
	ByClockOf string
	Action
	// Text describes the fault to people, e.g. "pause client-1".
	Text string
}
