package checks

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// splitVotes measures how often no client was granted the lock because several asked at the same
// time. It counts failed attempts during which no client held the lock. At some moment of such an
// attempt, at least two of the asking clients had keys on the lock's nodes, and none of these
// clients had keys on a quorum of them.
var splitVotes = measure{
	name:     "split-votes",
	title:    "attempts that failed because clients asked at the same time and split the votes, so none was granted the lock",
	headline: []string{"split"},
	take:     takeSplitVotes,
}

func takeSplitVotes(h *judgedRun) Measure {
	needsQuorum := slices.ContainsFunc(h.Trace.Locks, func(l trace.LockInfo) bool { return l.Quorum > 1 })
	if !needsQuorum {
		return noMeasure(noMajority.Reason())
	}
	var split, failed int64
	for _, b := range h.Ballots() {
		if b.Ended == nil || b.OK() {
			continue
		}
		failed++
		if b.VotesSplit && !b.LockHeld {
			split++
		}
	}
	return Measure{
		Figures: []Figure{{"split", Count, split}, {"failed", Count, failed}},
		Summary: ofFailedAttempts.Reason(split, failed),
	}
}
