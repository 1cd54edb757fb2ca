package explore

import (
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/trace"
)

// An effectPolicy is how a search treats faults with one of the [trace.Effects].
type effect struct {
	// harmRank orders the effects by how often such faults do harm, from 1.
	harm int
	// familyOf returns the family of such a fault in a world.
	comesTo  func(*Record, runs.World, runs.Fault) family
	leaves   remainder
	evidence trail
}

var effects = map[trace.Effect]effect{
	trace.StopsProcess:     {1, whatStops, remainder{happens: didThen(trace.Resumed)}, trail{shows: (*rivalry).showsStop}},
	trace.CutsLink:         {2, justLate, remainder{none: "no point of a story tells the end of a partition"}, trail{shows: (*rivalry).showsCut}},
	trace.SetsClock:        {3, wrongClock, remainder{happens: clockJumped}, trail{shows: (*rivalry).showsJump}},
	trace.KillsProcess:     {4, whatDies, remainder{happens: didThen(trace.Restarted)}, trail{shows: (*rivalry).showsDeath}},
	trace.HoldsMessage:     {5, justLate, remainder{none: "it strikes no node"}, trail{shows: (*rivalry).showsHold}},
	trace.ResetsConnection: {6, justLate, remainder{none: "a node forgets nothing by it"}, trail{none: "no point of a story tells that a connection was reset"}},
	trace.SlowsLink:        {7, justLate, remainder{none: "nothing tells when messages are fast again"}, trail{none: "a message that is slow arrives like any other"}},
	trace.AnswersErrors:    {8, justLate, remainder{none: "a node forgets nothing by it"}, trail{none: "no point of a story tells that a node answered with an error"}},
	trace.StallsRequest:    {9, justLate, remainder{none: "it strikes no node"}, trail{shows: (*rivalry).showsStall}},
	trace.CancelsCall:      {10, always(cancelled), remainder{none: "it strikes no node"}, trail{shows: (*rivalry).showsCancel}},
	trace.MovesRole:        {11, always(forgetful), remainder{happens: didThen(trace.WasPromoted)}, trail{shows: (*rivalry).showsMove}},
	trace.StallsDisk:       {12, justLate, remainder{none: "a node forgets nothing by it"}, trail{none: "no point of a story tells that a disk stalled"}},
	trace.DriftsClock:      {13, wrongClock, remainder{none: "it has no moment; that a key expires is one already"}, trail{shows: (*rivalry).showsDrift}},
	trace.RevokesClaim:     {14, always(forgetful), remainder{none: "it names a client, and no node"}, trail{none: "no point of a story tells that an operator has deleted a key"}},
}
