package quiz

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// nextForm asks when another client gets the lock after the first holder.
var nextForm = Form{Name: "next-grant", Title: "when the next client gets the lock", ask: askNext}

// leastWait is the least time between two grants about which the form asks. A client that
// waits for less gets the lock right after a release.
const leastWait = time.Second

func askNext(c *Case) *Question {
	h := c.Off.History
	if _, ok := onlyLock(h); !ok || len(h.Sections()) == 0 {
		return nil
	}
	first := h.Sections()[0]
	var next *history.Section
	for _, s := range h.Sections() {
		if s.Client != first.Client {
			next = s
			break
		}
	}
	if !isWanted(h, first.Client) {
		return nil
	}
	e := &Estimate{Unit: Times, IsNever: next == nil, AllowsNever: true, Tolerance: leastWait / 2, Rule: "off by at most half a second, or by at most a tenth of the time that passes between the two grants"}
	q := &Question{
		Text:     fmt.Sprintf("%s is granted the lock at %s. When is another client granted it for the first time? (Give the time on the clock of the run, such as 12s, or say never. This is the run without fencing tokens.)", first.Client, story.Time(first.From.At)),
		Estimate: e,
	}
	if next == nil {
		q.Reason = "Other clients asked for the lock, and none was granted it until the run ended at " + story.Time(h.Last().At) + "."
		return q
	}
	wait := next.From.At - first.From.At
	if wait < leastWait {
		return nil
	}
	e.Value, e.Tolerance = next.From.At, max(leastWait/2, wait/10)
	q.Reason = fmt.Sprintf("%s is granted the lock at %s, %s after %s.", next.Client, story.Time(next.From.At), story.WaitedTime(wait), first.Client)
	return q
}

// isWanted reports whether another client than the given one asks for the lock.
func isWanted(h *history.History, holder string) bool {
	for _, call := range h.Calls() {
		if call.Step == trace.Acquire && call.Client != holder {
			return true
		}
	}
	return false
}
