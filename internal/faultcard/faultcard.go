// Package faultcard has the words in which the card of a kind of fault describes where and
// when such a fault can strike. Package sim writes the cards, and a search reads them.
package faultcard

// An Occasion is the set of points at which a fault strikes.
type Occasion string

const (
	// AtPoints is whenever something happens to the process: it begins a step, or it sends
	// or receives a message.
	AtPoints Occasion = "points"
	// AtEveryPoint is whenever something happens to any process.
	AtEveryPoint Occasion = "every point"
	// AtSteps is when the process begins a step.
	AtSteps Occasion = "steps"
	// AtMessages is when a message between the two processes is on its way, and when it has
	// arrived.
	AtMessages Occasion = "messages"
	// AtCalls is when a message of a call of the process's lock is on its way.
	AtCalls Occasion = "calls"
	// OnMessages makes each message the target of a fault.
	OnMessages Occasion = "each message"
	// OnRequests makes a fault for the sender and the step of each first request to the
	// storage.
	OnRequests Occasion = "each request to the storage"
)

// Others is which processes can be at the other end of a fault.
type Others string

const (
	// NoOthers is no process.
	NoOthers Others = ""
	// AnyNodeSet is every set of nodes, and the storage.
	AnyNodeSet Others = "any side"
	// EachNodeCount is one set of nodes of each size, and the storage.
	EachNodeCount Others = "each share"
	// EachReceiver is each process to which the process sends a message in the step.
	EachReceiver Others = "spoken to"
)

// A Gate is a condition without which a fault cannot act.
type Gate string

const (
	// NeedsOwnClock is that the lock reads the process's clock, if the process is a client.
	NeedsOwnClock Gate = "the lock reads the client's clock"
	// NeedsReplica is that the process is a replica of another.
	NeedsReplica Gate = "the process is a replica"
	// NeedsDisk is that the process waits for its disk before it answers, and does
	// something else meanwhile.
	NeedsDisk Gate = "the process waits for its disk"
)

// Negative is the manner of a fault with a size below zero: a clock is set back, or is
// slow.
const Negative = "-"
