package trace

import (
	"time"
)

// A Trace is everything that happened in one run of a world, and what one has
// to know of the world to read it. A verdict is computed from it alone.
type Trace struct {
	Name    string `json:"name"`
	Variant string `json:"variant,omitempty"`
	Seed    uint64 `json:"seed"`
	// Fencing is the storage's policy.
	Fencing string `json:"fencing"`
	// Locks are the locks that the clients compete for.
	Locks []LockInfo `json:"locks"`
	// Processes lists clients, nodes, services and the storage.
	Processes []ProcessInfo `json:"processes"`
	Faults    []FaultInfo   `json:"faults,omitempty"`
	// Doubts are reasons, known before the run or found in its course, why it
	// cannot tell what its scenario is about.
	Doubts []string `json:"doubts,omitempty"`
	// Ending is how a client's code ended the run before its time; nil if the run came to its
	// end.
	Ending *Ending `json:"ending,omitempty"`
	// Notes are what one has to know of how the run was made. They change no verdict.
	Notes []string `json:"notes,omitempty"`
	// Complaints are what clients' programs say against their locks, in the order in which
	// they ended. The text of the event with which one ended says the same to people.
	Complaints []Complaint `json:"complaints,omitempty"`
	// Bytes are those of the messages between clients and nodes that are no members of a
	// cluster, of which each message says them, together; what sets a connection up does
	// not count. It is 0 in a trace that an earlier version has written.
	Bytes int64 `json:"bytes,omitempty"`
	// ProgressWithin is the bound of the progress property, counted from the
	// last strike or the end of the last fault; 0 is the end of the run.
	ProgressWithin time.Duration `json:"progress_within"`
	// Schedule says when the clients' jobs are due; nil if they have none.
	Schedule *Schedule `json:"schedule,omitempty"`
	// Unread are the clients whose wall clocks their programs have never read: how these
	// were set made no difference. Only the run itself can tell.
	Unread []string `json:"-"`
	Events []Event  `json:"events"`
}

// An Ending is what a client's code did that no lock may do, and that ended a run.
type Ending struct {
	// Rule is one of [ConductPanic], [ConductHang], [ConductLeak] and [ConductEndless].
	Rule string `json:"rule"`
	// Why is one line about it.
	Why string `json:"why"`
	// Stacks are those of the goroutines to blame, if it has any. A saved trace has none: they
	// name folders of the machine.
	Stacks string `json:"-"`
}

// LockInfo describes one lock of a world.
type LockInfo struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// TrueTime says that the lock reads true time and not its process's clocks.
	TrueTime bool `json:"true_time,omitempty"`
	// Open says that everybody is let in: there is no exclusion to break.
	Open bool `json:"open,omitempty"`
	// Unordered says that the fencing tokens can only be told apart.
	Unordered bool `json:"unordered,omitempty"`
	// Holders is how many may hold it at one moment; 0 means one.
	Holders int `json:"holders,omitempty"`
	// TTL is 0 for a lock whose grants do not end by themselves.
	TTL    time.Duration `json:"ttl"`
	Slots  []SlotInfo    `json:"slots"`
	Quorum int           `json:"quorum"`
	// Members are the nodes of the cluster that keeps the lock; its slot is the cluster's,
	// and serves as long as most of the members do. There are none if the slots are nodes'.
	Members []string `json:"members,omitempty"`
	// Claims are what its author says of it.
	Claims Claims `json:"claims,omitzero"`
}

// Claims are what the author of a lock says of it, beyond what every lock must keep. A lock is
// held to what it claims.
type Claims struct {
	// Notifies: a lease tells of its loss.
	Notifies bool `json:"notifies,omitempty"`
	// Tokens: each grant comes with a fencing token.
	Tokens bool `json:"tokens,omitempty"`
	// TellsAtRelease: a release returns an error if the lock had been lost, and success if it
	// has released the lock.
	TellsAtRelease bool `json:"tells_at_release,omitempty"`
}

// SlotInfo is one place where a lock keeps a grant.
type SlotInfo struct {
	Node string `json:"node"`
	Key  string `json:"key"`
}

// Role is what a process is.
type Role string

const (
	RoleClient  Role = "client"
	RoleNode    Role = "node"
	RoleService Role = "service"
	RoleStorage Role = "storage"
	// RoleCluster is that of several nodes which keep one register together: what is told
	// of it is true of the cluster, whichever of its members are well.
	RoleCluster Role = "cluster"
)

// ProcessInfo describes one process of a world.
type ProcessInfo struct {
	Name string `json:"name"`
	Role Role   `json:"role"`
	// ReadOnly is a client that never writes in its sections.
	ReadOnly bool `json:"read_only,omitempty"`
	// Writes is how many writes a client is to make in each of its sections, with those that
	// are nested in it; 0 if nobody knows beforehand, and in a trace that an earlier version
	// has written.
	Writes int `json:"writes,omitempty"`
}

// FaultInfo is one fault of the scenario and whether it acted.
type FaultInfo struct {
	Text string `json:"text"`
	// Course is when it was to strike and to end, in words: "before client-1 write,
	// until client-2 released".
	Course string `json:"course,omitempty"`
	// Kind is the name of the kind of fault. Targets are the processes that it
	// acts on, group by group: of a partition, who is cut off, and from whom.
	Kind    string     `json:"kind,omitempty"`
	Targets [][]string `json:"targets,omitempty"`
	// Effect is what it does to them; "" in a trace that an earlier version has written,
	// as are all that follow up to Phrases.
	Effect Effect `json:"effect,omitempty"`
	// Message is the message that it keeps back, and Step the step in which a client's
	// request is; zero for others.
	Message NthMessage `json:"message,omitzero"`
	Step    Step       `json:"step,omitempty"`
	// Size is how large it is, without a sign, as a scenario has it: how far a clock is set,
	// how fast it runs, how much longer a message takes; "" if how long it lasts is all.
	Size string `json:"size,omitempty"`
	// Strikes is when it strikes, and Lasts how long it lasts, if it ends by itself.
	Strikes Trigger       `json:"strikes,omitzero"`
	Lasts   time.Duration `json:"lasts,omitempty"`
	Phrases Phrases       `json:"phrases,omitzero"`
	// Assumption is the assumption that the fault breaks: process, network,
	// clock, lock memory or storage memory; "" if it breaks none.
	Assumption Assumption `json:"assumption"`
	// Stops is the process that the fault crashes or pauses; "" if it does neither.
	Stops string `json:"stops,omitempty"`
	// Idle says why the fault did not act as the story says: its point, or that of
	// its end, was never reached, or it cannot act on the lock at hand. It is empty
	// when the fault acted.
	Idle string `json:"idle,omitempty"`
	// Moot says that it has nothing to act on with the lock at hand, whatever
	// happens; Idle says why.
	Moot bool `json:"moot,omitempty"`
}

// Target is the process that the fault strikes; "" if it is a message, or none is known.
func (f FaultInfo) Target() string {
	if !f.Message.IsZero() || len(f.Targets) == 0 || len(f.Targets[0]) == 0 {
		return ""
	}
	return f.Targets[0][0]
}

// Others are the processes at the other end of what it strikes.
func (f FaultInfo) Others() []string {
	if !f.Message.IsZero() || len(f.Targets) < 2 {
		return nil
	}
	return f.Targets[1]
}

// Phrases are what is said of a fault, with names in braces for what differs from fault
// to fault: {target}, {others}, {message}, {step} and {size} are those of the fault,
// {lasting} is "" or " for 30s" and {for-the-next} "" or ", for the next 30s".
type Phrases struct {
	// Subject and Does are a clause in the present tense, such as "{target}'s clock" and
	// "jumps back by {size}".
	Subject string `json:"subject"`
	Does    string `json:"does"`
	// Noun is the fault as a thing: "{target}'s clock set back".
	Noun string `json:"noun"`
}

// A Complaint is that a client's program ended with an error which says what the lock
// did wrong.
type Complaint struct {
	Client string `json:"client"`
	// Rule is what the lock broke: [CannotMake], or a name that the program gave it.
	Rule string `json:"rule"`
	Why  string `json:"why"`
}

// End is the true time of the last event.
func (t *Trace) End() time.Duration {
	if len(t.Events) == 0 {
		return 0
	}
	return t.Events[len(t.Events)-1].At
}
