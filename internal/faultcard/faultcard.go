// Package faultcard has the words in which the card of a kind of fault says where and when
// such a fault can strike. Package sim writes the cards, and a search reads them.
package faultcard

// An Occasion is the points at which a fault strikes.
type Occasion string

const (
	// AtPoints: whenever something happens to the process: it begins a step, or a message
	// is sent to it or by it.
	AtPoints Occasion = "points"
	// AtEveryPoint: whenever something happens to any process.
	AtEveryPoint Occasion = "every point"
	// AtSteps: when the process begins a step.
	AtSteps Occasion = "steps"
	// AtMessages: when a message between the two processes is on its way, and when it has
	// arrived.
	AtMessages Occasion = "messages"
	// AtCalls: when a message of a call of the process's lock is on its way.
	AtCalls Occasion = "calls"
	// OnMessages: each message is a fault's target.
	OnMessages Occasion = "each message"
	// OnRequests: the sender and the step of each first request to the storage are a
	// fault's.
	OnRequests Occasion = "each request to the storage"
)

// Others says which processes can be at the other end of a fault.
type Others string

const (
	// Alone is none.
	Alone Others = ""
	// AnySide is every set of nodes, and the storage.
	AnySide Others = "any side"
	// EachShare is a set of nodes of each size, and the storage.
	EachShare Others = "each share"
	// SpokenTo is each to whom the process says something in the step.
	SpokenTo Others = "spoken to"
)

// A Gate is what must be so that a fault can act at all.
type Gate string

const (
	// NeedsOwnClock: if the process is a client, its lock reads that client's clock.
	NeedsOwnClock Gate = "the lock reads the client's clock"
	// NeedsReplica: the process is a replica of another.
	NeedsReplica Gate = "the process is a replica"
	// NeedsDisk: the process waits for its disk before it answers, and does something else
	// meanwhile.
	NeedsDisk Gate = "the process waits for its disk"
)

// Less is the manner of a fault with a size below zero: a clock is set back, or is slow.
const Less = "-"
