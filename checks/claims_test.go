package checks

import (
	"testing"

	"github.com/locksim/locksim/trace"
)

// A lock may claim that a release reports the loss of the lock. It breaks that claim with a
// release that returns success although the lease had expired. For a lock without this
// claim, such a release does not count. The words are events of a trace; see [wordEvents].
func TestClaimToReportLossAtRelease(t *testing.T) {
	for _, c := range []struct {
		name   string
		claims bool
		words  string
		want   Property
	}{
		{"success, and the lease had expired", true, "asks set gets expires leaves left", ClaimReportsLossAtRelease},
		{"success, and the lease had expired, for a lock without the claim", false, "asks set gets expires leaves left", ""},
		{"success, and the lease had expired, but the clock of the node was set back", true, "asks set gets clock expires set-back leaves left", ""},
		{"success, and the lease had expired after the clock of the node was set forward", true, "asks set gets clock set-forward expires leaves left", ClaimReportsLossAtRelease},
		{"an error, and the lease had expired", true, "asks set gets expires leaves fails", ""},
		{"success, and the release removed the key", true, "asks set gets leaves removed left", ""},
	} {
		tr := traceFromWords(c.words)
		tr.Locks[0].Claims = trace.Claims{ReportsLossAtRelease: c.claims}
		for i := range tr.Events {
			tr.Events[i].Notifies = false // for a lock that does not notify, the lease lasts one TTL
		}
		if got := misconductIn(tr); got != c.want {
			t.Errorf("%s: the misconduct is %q, want %q", c.name, got, c.want)
		}
	}
}
