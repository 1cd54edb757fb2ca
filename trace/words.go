package trace

// StorageName is the name of the storage's process.
const StorageName = "storage"

// OperatorName stands for the client of a command that no client has sent: somebody has typed
// it at a server.
const OperatorName = "operator"

// Object is the object of the storage that the clients share if they name none.
const Object = "x"

// CannotMake is the rule of a [Complaint] by a client whose lock could not be made.
const CannotMake = "cannot make the lock"

// What a client's code did that no lock may do, and that ended a run before its time.
const (
	ConductPanic   = "panic"
	ConductHang    = "hang"
	ConductLeak    = "goroutine leak"
	ConductEndless = "endless retry"
)

// Crash is how a process ends: the text of an event of [KindCrash].
type Crash string

const (
	// Kill ends the process; its machine goes on and resets its connections.
	Kill Crash = "kill"
	// PowerLoss ends the whole machine: nobody is told, and what had not reached
	// the disk is gone.
	PowerLoss Crash = "power-loss"
	// Shutdown ends the process in an orderly way: what it holds is saved first,
	// if it saves anything.
	Shutdown Crash = "shutdown"
	// FailOver ends the storage's machine for good. When the fault ends a copy
	// takes over under its name: what the copy had not received is gone, tokens
	// included. Only the storage has a copy.
	FailOver Crash = "failover"
)

// PauseMode is how a process is paused: the text of an event of [KindPause].
type PauseMode string

const (
	// Stop stops the process, as a garbage collector or SIGSTOP does: its clocks
	// run on, its timers fire when it resumes.
	Stop PauseMode = "stop"
	// Suspend suspends the virtual machine: its monotonic clock stands still, its
	// wall clock jumps when it resumes.
	Suspend PauseMode = "suspend"
)

// ClockChange is what changed a process's clocks.
type ClockChange string

const (
	// Jumped: the wall clock was set.
	Jumped ClockChange = "jump"
	// Drifted: from now on the clocks run at another rate.
	Drifted ClockChange = "drift"
	// Suspended and resumed: the machine stood still, and went on.
	WasSuspended ClockChange = "suspend"
	WasResumed   ClockChange = "resume"
)

var clockChanges = []ClockChange{Jumped, Drifted, WasSuspended, WasResumed}
