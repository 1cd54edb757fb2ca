package explore

import (
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/trace"
)

// An effectPolicy says how a search treats all faults that have the same effect; see
// [trace.Effects].
type effectPolicy struct {
	// harmRank is the place of the effect, from 1, in the order of how often faults with this
	// effect do harm.
	harmRank int
	// familyOf returns the family of a fault with this effect in a world: the consequence of
	// the fault for a lock.
	familyOf func(*Record, runs.WorldSpec, runs.Fault) family
	// aftermath is the event on a node that follows a fault with this effect. evidence says how
	// a run shows that the fault has acted.
	aftermath aftermath
	evidence  evidence
}

// effectPolicies has the policy of every effect.
var effectPolicies = map[trace.Effect]effectPolicy{
	trace.StopsProcess:     {1, stoppedFamily, aftermath{event: nodeAction(trace.Resumed)}, evidence{witnesses: (*rivalry).evidenceOfStop}},
	trace.CutsLink:         {2, lateFamily, aftermath{whyNone: "no point describes the end of a partition"}, evidence{witnesses: (*rivalry).evidenceOfCut}},
	trace.SetsClock:        {3, clockFamily, aftermath{event: clockJumped}, evidence{witnesses: (*rivalry).evidenceOfJump}},
	trace.KillsProcess:     {4, crashedFamily, aftermath{event: nodeAction(trace.Restarted)}, evidence{witnesses: (*rivalry).evidenceOfDeath}},
	trace.HoldsMessage:     {5, lateFamily, aftermath{whyNone: "such a fault strikes no node"}, evidence{witnesses: (*rivalry).evidenceOfHold}},
	trace.ResetsConnection: {6, lateFamily, aftermath{whyNone: "such a fault makes no node forget anything"}, evidence{whyNone: "no point describes a reset connection"}},
	trace.SlowsLink:        {7, lateFamily, aftermath{whyNone: "no event shows when messages are fast again"}, evidence{whyNone: "a slow message arrives like any other"}},
	trace.AnswersErrors:    {8, lateFamily, aftermath{whyNone: "such a fault makes no node forget anything"}, evidence{whyNone: "no point describes an answer with an error"}},
	trace.StallsRequest:    {9, lateFamily, aftermath{whyNone: "such a fault strikes no node"}, evidence{witnesses: (*rivalry).evidenceOfStall}},
	trace.CancelsCall:      {10, fixedFamily(cancelledCall), aftermath{whyNone: "such a fault strikes no node"}, evidence{witnesses: (*rivalry).evidenceOfCancel}},
	trace.MovesRole:        {11, fixedFamily(forgetfulNode), aftermath{event: nodeAction(trace.WasPromoted)}, evidence{witnesses: (*rivalry).evidenceOfMove}},
	trace.StallsDisk:       {12, lateFamily, aftermath{whyNone: "such a fault makes no node forget anything"}, evidence{whyNone: "no point describes a stalled disk"}},
	trace.DriftsClock:      {13, clockFamily, aftermath{whyNone: "a drift has no moment of its own, and the expiry of a key has a point already"}, evidence{witnesses: (*rivalry).evidenceOfDrift}},
	trace.RevokesClaim:     {14, fixedFamily(forgetfulNode), aftermath{whyNone: "such a fault names a client, not a node"}, evidence{whyNone: "no point describes an operator's deletion of a key"}},
}
