package checks

import "github.com/locksim/locksim/trace"

// renewals measures how often leases were renewed, and how often that failed. It counts
// calls of extend, extensions that locks make by themselves, and messages that keep
// sessions alive. Such a message has failed if its client never read an answer.
//
// The pings of ZooKeeper do not count. Every request to ZooKeeper keeps a session alive, and the
// client sends a ping only if it had nothing else to send for a while. So the number of pings would
// only show how idle a client was, and a failed ping need not matter.
var renewals = measure{
	name:     "renewals",
	title:    "how often leases were renewed or sessions were kept alive, and how often that failed",
	headline: []string{"tried", "failed"},
	take:     takeRenewals,
}

func takeRenewals(h *judgedRun) Measure {
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
		return noMeasure(nothingRenewed.Reason())
	}
	return Measure{
		Figures: []Figure{{"tried", Count, tried}, {"failed", Count, failed}},
		Summary: ofWhichFailed.Reason(tried, failed),
	}
}
