package explore

import "github.com/locksim/locksim/trace"

// An effect is what a search does about the faults that have one of the [trace.Effects].
type effect struct {
	// harm orders the effects by how often such faults do harm, from 1.
	harm int
	// cause tells such a fault without names: a word for an ID, and words for people.
	cause func(*Record, World, Fault) (slug, words string)
	// comesTo is the family, from what the process is that the fault strikes and from what
	// it comes to if it only makes something late.
	comesTo  func(*Record, World, Fault) family
	leaves   remainder
	evidence trail
}

var effects = map[trace.Effect]effect{
	trace.StopsProcess:     {1, onOne, whatStops, remainder{happens: didThen(trace.Resumed)}, trail{shows: (*rivalry).showsStop}},
	trace.CutsLink:         {2, fromOthers, justLate, remainder{none: "no point of a story tells the end of a partition"}, trail{shows: (*rivalry).showsCut}},
	trace.SetsClock:        {3, onOne, wrongClock, remainder{happens: clockJumped}, trail{shows: (*rivalry).showsJump}},
	trace.KillsProcess:     {4, abstractCrash, whatDies, remainder{happens: didThen(trace.Restarted)}, trail{shows: (*rivalry).showsDeath}},
	trace.HoldsMessage:     {5, abstractMessage, justLate, remainder{none: "it strikes no node"}, trail{shows: (*rivalry).showsHold}},
	trace.ResetsConnection: {6, between, justLate, remainder{none: "a node forgets nothing by it"}, trail{none: "no point of a story tells that a connection was reset"}},
	trace.SlowsLink:        {7, between, justLate, remainder{none: "nothing tells when messages are fast again"}, trail{none: "a message that is slow arrives like any other"}},
	trace.AnswersErrors:    {8, onOne, justLate, remainder{none: "a node forgets nothing by it"}, trail{none: "no point of a story tells that a node answered with an error"}},
	trace.StallsRequest:    {9, onStep, justLate, remainder{none: "it strikes no node"}, trail{shows: (*rivalry).showsStall}},
	trace.CancelsCall:      {10, onOne, always(cancelled), remainder{none: "it strikes no node"}, trail{shows: (*rivalry).showsCancel}},
	trace.MovesRole:        {11, onOne, always(forgetful), remainder{happens: didThen(trace.WasPromoted)}, trail{shows: (*rivalry).showsMove}},
	trace.StallsDisk:       {12, onOne, justLate, remainder{none: "a node forgets nothing by it"}, trail{none: "no point of a story tells that a disk stalled"}},
	trace.DriftsClock:      {13, onOne, wrongClock, remainder{none: "it has no moment; that a key expires is one already"}, trail{shows: (*rivalry).showsDrift}},
	trace.RevokesClaim:     {14, onOne, always(forgetful), remainder{none: "it names a client, and no node"}, trail{none: "no point of a story tells that an operator has deleted a key"}},
}
