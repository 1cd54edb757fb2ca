package trace

import (
	"time"
)

// A Trace is the record of one run of a world: all its events, and the facts about the
// world that a reader needs. A verdict is computed from the trace alone.
type Trace struct {
	Name    string `json:"name"`
	Variant string `json:"variant,omitempty"`
	Seed    uint64 `json:"seed"`
	// Fencing is what the storage checks: the name of its fencing policy.
	Fencing string `json:"fencing"`
	// Locks are the locks that the clients compete for.
	Locks []LockInfo `json:"locks"`
	// Processes lists clients, nodes, services and the storage.
	Processes []ProcessInfo `json:"processes"`
	Faults    []FaultInfo   `json:"faults,omitempty"`
	// Overrides are the values of the scenario that were changed for this run, such as
	// "lock.ttl=10s".
	Overrides []string `json:"overrides,omitempty"`
	// Unscripted says that the run need not follow the story of its scenario, because Overrides
	// have changed the scenario. A client that never starts is then listed in Deviations, and the
	// verdict counts. In any other run, such a client, or a fault that does not act, makes the
	// verdict unknown.
	Unscripted bool `json:"unscripted,omitempty"`
	// Deviations are things that the scenario describes and that did not happen in an
	// unscripted run, such as the start of a client.
	Deviations []string `json:"deviations,omitempty"`
	// Doubts are reasons why the run cannot answer the question of its scenario. Some are
	// known before the run, others arise in it.
	Doubts []string `json:"doubts,omitempty"`
	// Ending says how a client's code ended the run too early; nil if the run finished.
	Ending *Ending `json:"ending,omitempty"`
	// Notes are facts about how the run was made. They change no verdict.
	Notes []string `json:"notes,omitempty"`
	// Real is the command that plays the run again, if it was played on real servers in real
	// time; "" if it was simulated.
	Real string `json:"real,omitempty"`
	// Complaints are the errors of clients' programs that say what a lock did wrong, in the
	// order in which the programs ended. The text of the event that ends a program says the
	// same in words for people.
	Complaints []Complaint `json:"complaints,omitempty"`
	// Bytes is the total length of the messages between clients and nodes that are not
	// members of a cluster, without the messages that set up connections. Messages with
	// members of a cluster are not included: each of them has its length in its event. It
	// is 0 in a trace written by an earlier version.
	Bytes int64 `json:"bytes,omitempty"`
	// ProgressWithin is the time limit of the property progress, within which at least one client that
	// wants the lock has to complete a critical section. It is counted from the moment at which the
	// last fault strikes or ends; 0 means until the end of the run.
	ProgressWithin time.Duration `json:"progress_within"`
	// Schedule says when the clients' jobs are due; nil if they have none.
	Schedule *Schedule `json:"schedule,omitempty"`
	// ClockNotReadBy are the clients whose programs have never read their wall clocks, so that
	// faults which set these clocks made no difference. Only the program that made the run knows
	// this.
	ClockNotReadBy []string `json:"-"`
	Events         []Event  `json:"events"`
}

// An Ending is misbehaviour of a client's code that ended a run, and that no lock may show.
type Ending struct {
	// Rule is one of [ConductPanic], [ConductHang], [ConductLeak] and [ConductEndless].
	Rule string `json:"rule"`
	// Why describes the misbehaviour in one line.
	Why string `json:"why"`
	// Stacks are the stacks of the goroutines to blame, if there are any. They are not
	// saved with the trace, because they name folders of the machine.
	Stacks string `json:"-"`
}

// LockInfo describes one lock of a world.
type LockInfo struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// TrueTime says that the lock reads true time instead of its process's clocks.
	TrueTime bool `json:"true_time,omitempty"`
	// GrantsEveryone says that the lock excludes nobody: it is granted to every client that
	// asks.
	GrantsEveryone bool `json:"open,omitempty"`
	// Unordered says that the lock's fencing tokens can only be compared for equality.
	Unordered bool `json:"unordered,omitempty"`
	// Holders is how many clients may hold the lock at one moment; 0 means one.
	Holders int `json:"holders,omitempty"`
	// TTL is 0 for a lock whose grants do not end by themselves.
	TTL   time.Duration `json:"ttl"`
	Slots []SlotInfo    `json:"slots"`
	// Quorum is how many slots must hold the same value to make a grant.
	Quorum int `json:"quorum"`
	// Members are the nodes of the cluster that keeps the lock. The lock's slot then
	// belongs to the cluster, and can be used as long as a majority of the members can.
	// There are no members if the slots belong to nodes.
	Members []string `json:"members,omitempty"`
	// Claims are what the author of the lock promises.
	Claims Claims `json:"claims,omitzero"`
}

// Claims are what the author of a lock promises beyond what every lock must do. The lock is
// held to these promises.
type Claims struct {
	// Notifies: the lock notifies its client when a lease is lost.
	Notifies bool `json:"notifies,omitempty"`
	// Tokens: each grant comes with a fencing token.
	Tokens bool `json:"tokens,omitempty"`
	// ReportsLossAtRelease: a release returns an error if the lock had been lost, and
	// success if it has released the lock.
	ReportsLossAtRelease bool `json:"tells_at_release,omitempty"`
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
	// RoleCluster is the role of several nodes that agree on one common state. An event of
	// a cluster is true of the cluster as a whole, whichever of its members are up.
	RoleCluster Role = "cluster"
)

// ProcessInfo describes one process of a world.
type ProcessInfo struct {
	Name string `json:"name"`
	Role Role   `json:"role"`
	// ReadOnly says that the process is a client that never writes in its sections.
	ReadOnly bool `json:"read_only,omitempty"`
	// Writes is how many writes a client intends to make in each of its sections, including
	// the sections nested in it. It is 0 if the number is not known beforehand, and in a
	// trace written by an earlier version.
	Writes int `json:"writes,omitempty"`
	// Awaits is the point at which a client starts, if it had not started when the run
	// ended. It is zero for every other process, and in a trace written by an earlier
	// version.
	Awaits Point `json:"awaits,omitzero"`
}

// FaultInfo is one fault of the scenario, and whether it acted.
type FaultInfo struct {
	Text string `json:"text"`
	// Timing is when the fault should strike and end, in words: "before client-1 write,
	// until client-2 released".
	Timing string `json:"course,omitempty"`
	// Kind is the name of the kind of fault. Targets are the processes that it acts on, in groups:
	// a partition has two groups, the processes that are cut off and the processes from which they
	// are cut off.
	Kind    string     `json:"kind,omitempty"`
	Targets [][]string `json:"targets,omitempty"`
	// Effect is what the fault does to its targets. This field and the fields from here to
	// Phrases are zero in a trace written by an earlier version.
	Effect Effect `json:"effect,omitempty"`
	// Message is the message that the fault holds back. Step is the step of the client
	// whose request the fault acts on. Both are zero for other faults.
	Message NthMessage `json:"message,omitzero"`
	Step    Step       `json:"step,omitempty"`
	// Size is how large the fault is, without a sign, as written in a scenario: how far a
	// clock is set, how fast it runs, how much longer a message takes. It is "" if only the
	// fault's duration says how large it is.
	Size string `json:"size,omitempty"`
	// Trigger is the condition on which the fault strikes. Duration is how long it lasts,
	// if it ends after a given time.
	Trigger  Trigger       `json:"strikes,omitzero"`
	Duration time.Duration `json:"lasts,omitempty"`
	Phrases  Phrases       `json:"phrases,omitzero"`
	// Assumption is the assumption that the fault breaks: process, network, clock, lock
	// memory or storage memory; "" if it breaks none.
	Assumption Assumption `json:"assumption"`
	// Stops is the process that the fault crashes or pauses; "" if it does neither.
	Stops string `json:"stops,omitempty"`
	// IdleReason says why the fault did not act as the scenario says: it never struck or never
	// ended because its point was not reached, or it cannot act on the given lock. IdleReason is ""
	// if the fault acted.
	IdleReason string `json:"idle,omitempty"`
	// NotApplicable says that the fault can never act on the given lock; IdleReason says
	// why.
	NotApplicable bool `json:"moot,omitempty"`
}

// Target returns the process that the fault strikes, or "" if the fault strikes a message
// or the process is not known.
func (f FaultInfo) Target() string {
	if !f.Message.IsZero() || len(f.Targets) == 0 || len(f.Targets[0]) == 0 {
		return ""
	}
	return f.Targets[0][0]
}

// Others returns the processes at the other end of the connections on which the fault acts, such as
// those from which a partition cuts its target off.
func (f FaultInfo) Others() []string {
	if !f.Message.IsZero() || len(f.Targets) < 2 {
		return nil
	}
	return f.Targets[1]
}

// Phrases are the texts that describe a fault. Words in braces are placeholders for the
// values of the fault: {target}, {others}, {message}, {step} and {size}; {lasting} is "" or
// " for 30s", and {for-the-next} is "" or ", for the next 30s".
type Phrases struct {
	// Subject and Predicate form a clause in the present tense, such as "{target}'s clock"
	// and "jumps back by {size}".
	Subject   string `json:"subject"`
	Predicate string `json:"does"`
	// Noun is the fault as a noun phrase: "{target}'s clock set back".
	Noun string `json:"noun"`
}

// A Complaint is the error with which a client's program ended, if it says what the lock did
// wrong.
type Complaint struct {
	Client string `json:"client"`
	// Rule is the rule that the lock broke: [CannotMake], [NoLease], or a name given by the
	// program.
	Rule string `json:"rule"`
	Why  string `json:"why"`
}

// End returns the true time of the last event.
func (t *Trace) End() time.Duration {
	if len(t.Events) == 0 {
		return 0
	}
	return t.Events[len(t.Events)-1].At
}
