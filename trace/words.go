package trace

// StorageName is the name of the storage's process.
const StorageName = "storage"

// OperatorName is the Client of an [Actor] that is no client but an operator: a person who types a
// command at a server.
const OperatorName = "operator"

// DefaultObject is the name of the object that clients read and write if the scenario names
// none.
const DefaultObject = "x"

// These are the texts of messages that carry no new request. A message whose text begins with
// CancelPrefix cancels a call. A message with the text EndOfConnection ends the connection.
const (
	CancelPrefix    = "cancel"
	EndOfConnection = "end the session"
)

// CannotMake is the rule of a [Complaint] by a client that could not construct its lock.
const CannotMake = "cannot make the lock"

// NoLease is the rule of a [Complaint] by a client whose acquire returned neither a lease
// nor an error.
const NoLease = "no lease"

// These are the rules of an [Ending]. Each names something that a client's code did and that no
// lock may do.
const (
	ConductPanic   = "panic"
	ConductHang    = "hang"
	ConductLeak    = "goroutine leak"
	ConductEndless = "endless retry"
)

// Crash is how a process ends: the text of an event of [KindCrash].
type Crash string

const (
	// Kill ends the process. Its machine keeps running and resets the connections.
	Kill Crash = "kill"
	// PowerLoss ends the whole machine. No peer is notified, and everything that had not
	// reached the disk is lost.
	PowerLoss Crash = "power-loss"
	// Shutdown ends the process in an orderly way: a process that saves its state does so
	// first.
	Shutdown Crash = "shutdown"
	// FailOver ends the storage's machine for good. When the fault ends, a copy takes over
	// under the same name. Everything that the copy had not received is lost, tokens
	// included. Only the storage has a copy.
	FailOver Crash = "failover"
)

// PauseMode is how a process is paused: the text of an event of [KindPause].
type PauseMode string

const (
	// Stop stops the process, as a garbage collector or SIGSTOP does. Its clocks run on,
	// and its timers fire when it resumes.
	Stop PauseMode = "stop"
	// Suspend suspends the process's virtual machine. Its monotonic clock stops too, and
	// its wall clock jumps forward when the machine resumes.
	Suspend PauseMode = "suspend"
)

// ClockChange is the cause of a change of a process's clocks.
type ClockChange string

const (
	// Jumped: the wall clock was set.
	Jumped ClockChange = "jump"
	// Drifted: the clocks run at another rate from now on.
	Drifted ClockChange = "drift"
	// suspended and resumed: the machine stopped, and continued.
	suspended ClockChange = "suspend"
	resumed   ClockChange = "resume"
)

var clockChanges = []ClockChange{Jumped, Drifted, suspended, resumed}
