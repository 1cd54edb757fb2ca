// Package faultcard defines the constants with which the card of a kind of fault says where
// and when a fault of that kind can strike. A card is a sim.FaultKind. A search for ways to
// break a lock reads the cards to place its faults.
package faultcard

// An Occasion says at which moments of a run a search tries a fault. In the comments of the
// constants, "the process" is the process that the fault strikes.
type Occasion string

const (
	// AtPoints means at each event of the process: it begins a step, or it sends or
	// receives a message.
	AtPoints Occasion = "points"
	// AtEveryPoint means at each such event of every process.
	AtEveryPoint Occasion = "every point"
	// AtSteps means at the beginning of each step of the process.
	AtSteps Occasion = "steps"
	// AtMessages means twice for each message between the process and another one: while the
	// message is in flight, and when it has arrived.
	AtMessages Occasion = "messages"
	// AtCalls means while a message is in flight that belongs to a call of the lock, such as
	// acquire, by the process.
	AtCalls Occasion = "calls"
	// OnMessages means once for each message, which is then the target of the fault.
	OnMessages Occasion = "each message"
	// OnRequests means once for the first request that each step of the process sends to
	// the storage.
	OnRequests Occasion = "each request to the storage"
)

// Others says which processes are at the other end of a fault of the network, such as a partition.
// A search tries the fault with each set of processes that the constant allows.
type Others string

const (
	// NoOthers means none: the fault strikes one process.
	NoOthers Others = ""
	// AnyNodeSet means every set of nodes, and the storage.
	AnyNodeSet Others = "any side"
	// EachNodeCount means one set of nodes of each size, and the storage.
	EachNodeCount Others = "each share"
	// EachReceiver means each process to which the struck process sends a message in the
	// step.
	EachReceiver Others = "spoken to"
)

// A Gate is a condition without which a fault has no effect. A search does not try the fault where
// the condition is not met.
type Gate string

const (
	// NeedsOwnClock means that the fault acts only on nodes, and on clients whose lock
	// reads the client's clock.
	NeedsOwnClock Gate = "the lock reads the client's clock"
	// NeedsReplica means that the fault acts only on replicas.
	NeedsReplica Gate = "the process is a replica"
	// NeedsDisk means that the fault acts only on processes that wait for their disks
	// before they answer, and do other work meanwhile.
	NeedsDisk Gate = "the process waits for its disk"
)

// Negative is the name of the manner in which the size of a fault is below zero: a clock is
// set back, or runs slow.
const Negative = "-"
