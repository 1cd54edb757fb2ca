package trace

// An Effect is what a fault does to what it strikes. The set is closed: searches, suites
// and pictures have a table by effect, so that a new kind of fault with one of these
// effects is dealt with everywhere as soon as it is registered.
type Effect string

const (
	StopsProcess     Effect = "stops a process"
	KillsProcess     Effect = "kills a process"
	CutsLink         Effect = "cuts a link"
	ResetsConnection Effect = "resets a connection"
	SlowsLink        Effect = "slows a link"
	HoldsMessage     Effect = "holds a message"
	StallsRequest    Effect = "stalls a request"
	StallsDisk       Effect = "stalls a disk"
	SetsClock        Effect = "sets a clock"
	DriftsClock      Effect = "drifts a clock"
	AnswersErrors    Effect = "answers with errors"
	MovesRole        Effect = "moves a role"
	CancelsCall      Effect = "cancels a call"
	RevokesClaim     Effect = "revokes a claim"
)

// Effects lists all effects.
func Effects() []Effect {
	return []Effect{
		StopsProcess, KillsProcess, CutsLink, ResetsConnection, SlowsLink, HoldsMessage,
		StallsRequest, StallsDisk, SetsClock, DriftsClock, AnswersErrors, MovesRole, CancelsCall,
		RevokesClaim,
	}
}
