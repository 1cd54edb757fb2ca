package trace

// An Effect is what a fault does to its target. The set is closed: searches, suites and diagrams
// decide by the effect how they treat a fault. So they need no change for a new kind of fault that
// has one of these effects.
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
	MovesRole        Effect = "moves a role" // a replica becomes a master, or the reverse
	CancelsCall      Effect = "cancels a call"
	RevokesClaim     Effect = "revokes a claim" // an operator deletes a grant or a place in a queue
)

// brokenByEffect maps each effect to the assumption of a lock that such a fault breaks. A
// cancelled call breaks no assumption.
var brokenByEffect = []struct {
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
	all := make([]Effect, len(brokenByEffect))
	for i, b := range brokenByEffect {
		all[i] = b.Effect
	}
	return all
}

// Breaks returns the assumption that a fault with this effect breaks, or "" for none. The answer is
// wrong for the crash of a server: that crash breaks the assumption that the server's memory
// survives.
func (e Effect) Breaks() Assumption {
	for _, b := range brokenByEffect {
		if b.Effect == e {
			return b.Assumption
		}
	}
	return ""
}
