package story

import (
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/trace"
)

// undamagedWords explains why two sections that overlapped did no harm to the data.
func TestUndamagedWords(t *testing.T) {
	pair := checks.SafeOverlap{First: "client-1", Second: "client-2", Entered: 31 * time.Second, Section: "client-1", Other: "client-2",
		Last: checks.Access{Step: trace.Write, Object: "x", At: 32 * time.Second}, Next: checks.Access{Step: trace.Read, Object: "x", At: 33 * time.Second},
		CausedAt: 30 * time.Second}
	for _, c := range []struct {
		reason checks.SafetyReason
		cause  checks.NoWriteCause
		want   string
	}{
		{checks.NeitherWrote, checks.NoCause, "neither of them wrote"},
		{checks.WroteNothing, checks.NoCause, "client-1 wrote nothing"},
		{checks.WroteNothing, checks.NotifiedOfLoss, "client-1 wrote nothing, because the lock had reported at 30.000s that its lease was lost"},
		{checks.WroteNothing, checks.CheckFailed, "client-1 wrote nothing, because its check at 30.000s had found that its lease had ended"},
		{checks.WroteNothing, checks.ExtendFailed, "client-1 wrote nothing, because it had failed at 30.000s to extend its lease"},
		{checks.WroteNothing, checks.ClientCrashed, "client-1 wrote nothing, because it crashed at 30.000s"},
		{checks.WroteBefore, checks.NoCause, "client-1 wrote nothing after client-2 had entered its section at 31.000s; its last write was applied at 32.000s"},
		{checks.DoneBefore, checks.NoCause, "client-1 had finished with the storage before client-2 used it; its last write was applied at 32.000s, and client-2's first read was answered at 33.000s"},
		{checks.OtherObjects, checks.NoCause, "they used different objects"},
		{checks.EquivalentToSerial, checks.NoCause, "their reads and writes have the same result as one section after the other"},
	} {
		pair.Reason, pair.Cause = c.reason, c.cause
		if got := undamagedWords(pair); got != c.want {
			t.Errorf("reason %v, cause %v:\ngot  %s\nwant %s", c.reason, c.cause, got, c.want)
		}
	}
}
