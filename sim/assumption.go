package sim

import "github.com/locksim/locksim/trace"

// assumptions has, by effect, what a lock takes for granted and such a fault breaks. A
// crash takes from each process something else. A call that is cancelled breaks nothing
// that a lock may take for granted.
var assumptions = map[trace.Effect]trace.Assumption{
	trace.StopsProcess:     trace.AssumeProcess,
	trace.KillsProcess:     trace.AssumeProcess,
	trace.StallsRequest:    trace.AssumeProcess,
	trace.StallsDisk:       trace.AssumeProcess,
	trace.AnswersErrors:    trace.AssumeProcess,
	trace.CutsLink:         trace.AssumeNetwork,
	trace.ResetsConnection: trace.AssumeNetwork,
	trace.SlowsLink:        trace.AssumeNetwork,
	trace.HoldsMessage:     trace.AssumeNetwork,
	trace.SetsClock:        trace.AssumeClock,
	trace.DriftsClock:      trace.AssumeClock,
	trace.MovesRole:        trace.AssumeLockMemory,
	trace.CancelsCall:      "",
	trace.RevokesClaim:     trace.AssumeLockMemory,
}

// breaks is the assumption that the fault breaks.
func (f Fault) breaks(t Topology) trace.Assumption {
	switch dies := f.Effect() == trace.KillsProcess; {
	case dies && f.Target() == trace.StorageName:
		return trace.AssumeStorageMemory
	case dies && !t.Clients[f.Target()]:
		return trace.AssumeLockMemory
	}
	return assumptions[f.Effect()]
}
