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

// breaks has, by effect, what a lock takes for granted and such a fault breaks. A call that is
// cancelled breaks nothing that a lock may take for granted.
var breaks = []struct {
	Effect
	Assumption
}{
	{StopsProcess, AssumeProcess},
	{KillsProcess, AssumeProcess},
	{CutsLink, AssumeNetwork},
	{ResetsConnection, AssumeNetwork},
	{SlowsLink, AssumeNetwork},
	{HoldsMessage, AssumeNetwork},
	{StallsRequest, AssumeProcess},
	{StallsDisk, AssumeProcess},
	{SetsClock, AssumeClock},
	{DriftsClock, AssumeClock},
	{AnswersErrors, AssumeProcess},
	{MovesRole, AssumeLockMemory},
	{CancelsCall, ""},
	{RevokesClaim, AssumeLockMemory},
}

// Effects lists all effects.
func Effects() []Effect {
	all := make([]Effect, len(breaks))
	for i, b := range breaks {
		all[i] = b.Effect
	}
	return all
}

// Breaks is the assumption that a fault of the effect breaks; "" is none. A crash takes another
// one from a server.
func (e Effect) Breaks() Assumption {
	for _, b := range breaks {
		if b.Effect == e {
			return b.Assumption
		}
	}
	return ""
}
