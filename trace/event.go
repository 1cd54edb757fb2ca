package trace

import (
	"time"

	"github.com/locksim/locksim/fakeclock"
)

// An Actor is the originator of an event: usually a client in one of its critical sections. A
// section is the work of a client under the lock. It begins with a call of Acquire, and Section is
// the number of that call, from 1; 0 means that the client acted outside its sections. An actor can
// also be an operator; see [Operator].
type Actor struct {
	Client  string `json:"client"`
	Section int    `json:"section"`
	// Sent is the Seq of the event that sent the actor's command.
	Sent int `json:"sent,omitempty"`
}

// Operator returns the actor for a command that an operator types at a server by hand.
func Operator() *Actor { return &Actor{Client: OperatorName} }

// IsOperator reports whether the actor is an operator and not a client.
func (a *Actor) IsOperator() bool { return a != nil && a.Client == OperatorName }

// An Event is one thing that happened. Seq is its number, from 1, without gaps. At is the
// true time since the start of the world; it never decreases as Seq grows.
type Event struct {
	Seq  int           `json:"seq"`
	At   time.Duration `json:"at"`
	Kind Kind          `json:"kind"`
	// Earliest is set in a trace of real servers, if the program that recorded the trace knows only
	// that the event happened between Earliest and At. It is 0 if the event happened at At.
	Earliest time.Duration `json:"earliest,omitempty"`

	// Process is the process at which the event happened. Peer is another process that took
	// part, such as the receiver of a message; [Kinds] says which.
	Process string `json:"process,omitempty"`
	Peer    string `json:"peer,omitempty"`
	// Fault is the number of the fault that the event is about, from 1, in the order of the
	// scenario.
	Fault int `json:"fault,omitempty"`
	// Instant is set when a fault without a duration strikes: the fault ends at the moment at which
	// it strikes, and is never lifted.
	Instant bool `json:"instant,omitempty"`
	// HasEnd is set when a fault strikes, if the scenario says when that fault ends.
	HasEnd bool `json:"lifts,omitempty"`
	// Text is for people: a command, a reply, a reason.
	Text string `json:"text,omitempty"`

	// Conn numbers the connections of a pair of processes, from 1. Msg numbers the messages
	// of one direction of a connection, from 1. Reply says that the message goes from the
	// server to the client. Handshake says that the message only sets up the connection
	// (HELLO and the like), or was sent before the scenario began.
	Conn      int  `json:"conn,omitempty"`
	Msg       int  `json:"msg,omitempty"`
	Reply     bool `json:"reply,omitempty"`
	Handshake bool `json:"handshake,omitempty"`
	// KeepAlive says that the message only keeps a session alive, or answers a message that
	// does. Bytes is the length of a message between a client and a member of a cluster.
	KeepAlive bool `json:"keep_alive,omitempty"`
	Bytes     int  `json:"bytes,omitempty"`

	// Section and Step are the client's section and step when the event or the request
	// began. For a message they are those of the message's client.
	Section int  `json:"section,omitempty"`
	Step    Step `json:"step,omitempty"`
	// OK says that the step succeeded, or that the request was applied.
	OK bool `json:"ok,omitempty"`
	// Refused says that the step failed because the storage refused it.
	Refused bool `json:"refused,omitempty"`
	// Lock is the name of the lock that an acquire asks for. OuterSection is set if the client
	// already holds a lock and acquires another one. Then it is the number of the section in which
	// the client makes this call: its latest section that has not ended. 0 means that there is
	// none.
	Lock         string `json:"lock,omitempty"`
	OuterSection int    `json:"within,omitempty"`
	// ContextEnded says, at the beginning of a call, that the client's context for the call
	// had already ended.
	ContextEnded bool `json:"context_over,omitempty"`
	// Token is the fencing token of the grant. It is set at the end of a successful acquire
	// or mint, on requests to the storage, and on the storage's events about them.
	Token uint64 `json:"token,omitempty"`
	// Minted says that the token came from the lock or a token source, not from the oracle.
	// The oracle is the part of locksim that orders the grants of a run as a perfect lock
	// service would have made them.
	Minted bool `json:"minted,omitempty"`
	// Rank is set at the end of a successful acquire: the position of the grant in the
	// oracle's order of grants.
	Rank uint64 `json:"rank,omitempty"`
	// Ungranted is set at the end of an acquire that succeeded although no server granted
	// the lock: the acquire changed none of the lock's slots, which are the places where
	// the lock keeps its grants.
	Ungranted bool `json:"ungranted,omitempty"`
	// LeaseEnd is when the lease ends. At the end of an acquire or an extend it is the end
	// that the lock declares. On an event about a key it is the end that the key's value
	// contains, if clients judge that end by their own clocks. It is nil if there is no
	// such end.
	LeaseEnd *fakeclock.Reading `json:"ends,omitempty"`
	// Notifies says, at the end of a successful acquire, that the lock notifies its client
	// when the lease is lost.
	Notifies bool `json:"notifies,omitempty"`
	// Mistyped is set at the end of a successful acquire. It lists the methods of the lease that
	// locksim ignores, because they have the name of an optional method but not its signature.
	Mistyped []string `json:"mistyped,omitempty"`
	// ReleasesLock says, at the beginning of a write, that the write also releases the lock. Only a
	// lock that also keeps the data can do both, in one transaction.
	ReleasesLock bool `json:"leaves,omitempty"`

	// Session names a client's session with a cluster: the record that the cluster keeps while it
	// considers the client alive. It is set on events about the session, and at the end of a
	// successful acquire whose lease lasts as long as the session.
	Session string `json:"session,omitempty"`

	// Key, Value and TTL describe a key. Value is an alias such as value-1 if the real value is
	// random. TTL is the rest of the key's life on the node's clock; 0 means that the key never
	// expires. Expires is the true time at which the key expires if no clock changes before.
	Key     string        `json:"key,omitempty"`
	Value   string        `json:"value,omitempty"`
	TTL     time.Duration `json:"ttl,omitempty"`
	Expires time.Duration `json:"expires,omitempty"`
	// By is the actor that changed the key, and Owner the actor that had set it. If the event sets
	// a key, both are the actor that sets it, and Prior is the owner of the overwritten key. On the
	// storage's events By is the client that made the request. By differs from Peer if the request
	// came through services, which pass requests on.
	By    *Actor `json:"by,omitempty"`
	Owner *Actor `json:"owner,omitempty"`
	Prior *Actor `json:"prior,omitempty"`

	// Object is an object of the storage, and Version is the number of one of its versions:
	// at the end of a read, the version that was read; at the end of a write, the version
	// that was made. Replaced is the number of the version that was replaced or lost.
	Object   string `json:"object,omitempty"`
	Version  int    `json:"version,omitempty"`
	Replaced int    `json:"replaced,omitempty"`

	// Period is a period of the schedule: the one that begins, or the one for which the
	// client asks for the lock. On a write to the object [PeriodRecord] it is a period that
	// has been run; on a read of that object, the last period that was run.
	Period int `json:"period,omitempty"`

	Clocks *Clocks `json:"clocks,omitempty"`
}

// Client returns the client on whose behalf the storage served a request.
func (ev *Event) Client() string {
	if ev.By != nil {
		return ev.By.Client
	}
	return ev.Peer
}

// Clocks are the readings of one process's clocks at one moment, in nanoseconds, and their
// speed from then on. RatePPB is how much too fast they run, in parts per billion.
type Clocks struct {
	Wall      int64 `json:"wall"`
	Monotonic int64 `json:"monotonic"`
	RatePPB   int64 `json:"rate_ppb,omitempty"`
	// Halted says that the clocks have stopped, as on a suspended machine.
	Halted bool `json:"halted,omitempty"`
	// Why is the cause of the change; "" at the start of the run.
	Why ClockChange `json:"why,omitempty"`
}
