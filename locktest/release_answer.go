package locktest

import (
	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	voice "github.com/locksim/locksim/internal/story"
)

const claimReleases = "claim: tells at release"

// misanswered: a release that returned something else than it did, of a lock that claims to
// tell at release whether the lock was lost. What no claim excuses fails the lock by the
// property itself.
func misanswered(s *subject, _ world, h *history.History) (rule, why string, at []int) {
	if !s.config.TellsAtRelease {
		return "", "", nil
	}
	f := checks.Check(h, nil).Finding(checks.ReleaseAnswer)
	if f.Outcome != checks.Violated || f.Counts() {
		return "", "", nil
	}
	return claimReleases, voice.Told(f.Reason).String(), f.Events
}
