package trace

import (
	"time"

	"github.com/locksim/locksim/fakeclock"
)

// An Actor is one acquisition of one client: the client's name and the number,
// from 1, of its call of Acquire. Section 0 is what a client does outside any
// section.
type Actor struct {
	Client  string `json:"client"`
	Section int    `json:"section"`
	// Sent is the Seq of the send event of the command that acted.
	Sent int `json:"sent,omitempty"`
}

// Operator is who acts when an operator types a command at a server by hand.
func Operator() *Actor { return &Actor{Client: OperatorName} }

// IsOperator reports whether an operator has acted, and no client.
func (a *Actor) IsOperator() bool { return a != nil && a.Client == OperatorName }

// An Event is one thing that happened. Seq orders events totally; At is true
// time since the start of the world and never decreases with Seq.
type Event struct {
	Seq  int           `json:"seq"`
	At   time.Duration `json:"at"`
	Kind Kind          `json:"kind"`

	Process string `json:"process,omitempty"`
	Peer    string `json:"peer,omitempty"`
	// Fault is the number of a fault, from 1, in the order of the scenario.
	Fault int `json:"fault,omitempty"`
	// Instant says, on a strike, that the fault has no duration: it is over once
	// it has struck, and is never lifted.
	Instant bool `json:"instant,omitempty"`
	// Lifts says, on a strike, that the fault has an end: it is not meant to stay.
	Lifts bool `json:"lifts,omitempty"`
	// Text is for people: a command, a reply, a reason.
	Text string `json:"text,omitempty"`

	// Conn numbers the connections of a pair of processes from 1, Msg the
	// messages of one direction of a connection from 1. Reply says that the
	// message goes from the server to the client. Handshake says that it only
	// sets the connection up (HELLO and the like), or was sent before the story began.
	Conn      int  `json:"conn,omitempty"`
	Msg       int  `json:"msg,omitempty"`
	Reply     bool `json:"reply,omitempty"`
	Handshake bool `json:"handshake,omitempty"`
	// KeepAlive says that the message only keeps a session alive, or answers one that
	// does. Bytes is how long a message between a client and a member of a cluster is.
	KeepAlive bool `json:"keep_alive,omitempty"`
	Bytes     int  `json:"bytes,omitempty"`

	// Section and Step are those of the client (of the message's client, for
	// messages) when the event, or the request, began.
	Section int  `json:"section,omitempty"`
	Step    Step `json:"step,omitempty"`
	// OK: the step succeeded, the request was applied.
	OK bool `json:"ok,omitempty"`
	// Refused: the step failed because the storage refused it.
	Refused bool `json:"refused,omitempty"`
	// Lock names the lock of an acquire, and Within is the client's section in which it asks
	// for it: the one of its sections that began last, of a client that has a lock and takes
	// another one; 0 is none.
	Lock   string `json:"lock,omitempty"`
	Within int    `json:"within,omitempty"`
	// ContextOver says, on the beginning of a call, that the client's context of the call had
	// ended before it.
	ContextOver bool `json:"context_over,omitempty"`
	// Token is the fencing token of the grant: on the end of a successful
	// acquire or mint, on requests to the storage and on what that says of them.
	Token uint64 `json:"token,omitempty"`
	// Minted says that the token came from the lock or a token source, not from
	// the oracle.
	Minted bool `json:"minted,omitempty"`
	// Rank is, on the end of a successful acquire, the oracle's order of grants.
	Rank uint64 `json:"rank,omitempty"`
	// Ungranted says, on the end of a successful acquire, that no slot of the
	// lock had changed: the grant was granted by nobody.
	Ungranted bool `json:"ungranted,omitempty"`
	// Ends is when the lease ends as the lock declares it (end of acquire and of
	// extend), or as a key says it that clients judge by their own clocks; nil if it
	// declares nothing.
	Ends *fakeclock.Reading `json:"ends,omitempty"`
	// Notifies says, on the end of a successful acquire, that the lock tells its
	// client when the lease is lost.
	Notifies bool `json:"notifies,omitempty"`
	// Leaves says, on the beginning of a write, that the client gives the lock up with it:
	// the lock keeps the data, and one transaction does both.
	Leaves bool `json:"leaves,omitempty"`

	// Session is a client's session with a cluster: on what is told of it, and on the end
	// of a successful acquire whose lease lasts as long as that.
	Session string `json:"session,omitempty"`

	// Key, Value, TTL: a key. Value is an alias when the real value is
	// random. TTL is what is left of its life on the node's clock; 0 is for ever.
	// Expires is the true time at which it ends unless a clock changes.
	Key     string        `json:"key,omitempty"`
	Value   string        `json:"value,omitempty"`
	TTL     time.Duration `json:"ttl,omitempty"`
	Expires time.Duration `json:"expires,omitempty"`
	// By is who changed the key, Owner who had set it; for a set both are the
	// setter, and Prior is the owner of what it overwrote. On what the
	// storage does for a request By is the client that wants it, which with
	// services in between is not Peer.
	By    *Actor `json:"by,omitempty"`
	Owner *Actor `json:"owner,omitempty"`
	Prior *Actor `json:"prior,omitempty"`

	// Object, Version, Replaced: the storage's answer. On the end of a read,
	// Version is what was read; on the end of a write, what was made.
	Object   string `json:"object,omitempty"`
	Version  int    `json:"version,omitempty"`
	Replaced int    `json:"replaced,omitempty"`

	// Period is a period of the schedule: the one that begins, the one that the client of an
	// acquire means to run, and the one that the record names, of which a write says that it
	// has been run, or a read that it was the last.
	Period int `json:"period,omitempty"`

	Clocks *Clocks `json:"clocks,omitempty"`
}

// Client is the client on whose behalf the storage served a request.
func (ev *Event) Client() string {
	if ev.By != nil {
		return ev.By.Client
	}
	return ev.Peer
}

// Clocks are the readings of one process's clocks at one moment, and how they
// go on from there: at Rate parts per billion too fast, or not at all.
type Clocks struct {
	Wall      int64 `json:"wall"`
	Monotonic int64 `json:"monotonic"`
	RatePPB   int64 `json:"rate_ppb,omitempty"`
	// Halted: the clocks stand still (a suspended machine).
	Halted bool `json:"halted,omitempty"`
	// Why is "" at the start.
	Why ClockChange `json:"why,omitempty"`
}
