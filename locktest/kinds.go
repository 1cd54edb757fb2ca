package locktest

import (
	"slices"

	"github.com/locksim/locksim/checks"
)

// The suite judges locks that one client holds at a time, and treats each call of acquire as a
// critical section of its own. A lock of another kind, such as a semaphore or a reentrant lock,
// must be tested through an adapter. A kindRemark says so in the report, if the lock seems to be of
// another kind.
type kindRemark struct {
	// testCase and world name the first world in which a lock of this kind violates
	// lease-exclusion: two clients hold it at the same time.
	testCase, world string
	text            string
}

var kindRemarks = []kindRemark{
	{"claims/lease", "", "claims/lease: two clients held the lock at the same time, although no fault acted. The suite judges " +
		"locks that one client holds at a time. If this lock is a semaphore, test it with one permit; if it is a " +
		"read-write lock, let all clients write."},
	{"handles", "one", "handles: one handle was granted the lock that it held. The suite takes each call of acquire for a section " +
		"of its own. If this lock is reentrant, let its test make a new handle for each call of acquire."},
}

// kindRemarksOn returns the remarks that fit the result of a test case.
func kindRemarksOn(st testCase, o testResult) (texts []string) {
	for _, r := range kindRemarks {
		if slices.ContainsFunc(o.Problems, func(p problem) bool {
			return r.testCase == st.name && p.Rule == checks.LeaseExclusion && p.Address.World == r.world
		}) {
			texts = append(texts, r.text)
		}
	}
	return texts
}
