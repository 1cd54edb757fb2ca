package checks

import "github.com/locksim/locksim/trace"

// How often leases were prolonged, and how often that failed: calls of extend, what locks
// prolong by themselves, and the messages that keep sessions alive. One of these has failed
// if its client never read an answer.
//
// ZooKeeper has no such message: every request keeps a session alive, and a ping is sent only
// when there was nothing else to say for a while. The number of pings would tell how idle a
// client was, and a failed one need not be missed: so it is no measure there.
var renewals = measure{
	name:     "renewals",
	title:    "how often leases were prolonged, or sessions kept alive, and how often that failed",
	headline: []string{"tried", "failed"},
	take:     takeRenewals,
}

func takeRenewals(h *inquiry) Measure {
	var tried, failed int64
	for _, c := range h.Calls() {
		if c.Step != trace.Extend {
			continue
		}
		tried++
		if !c.OK() {
			failed++
		}
	}
	for _, m := range h.Messages() {
		switch {
		case !m.Sent.KeepAlive:
		case !m.Sent.Reply:
			tried++
			failed++
		case m.Arrived != nil:
			failed--
		}
	}
	if tried == 0 {
		return absent(nothingProlonged.Reason())
	}
	return Measure{
		Figures: []Figure{{"tried", Count, tried}, {"failed", Count, failed}},
		Says:    ofWhichFailed.Reason(tried, failed),
	}
}
