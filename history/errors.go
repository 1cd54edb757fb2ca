package history

import (
	"strconv"
	"strings"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/trace"
)

// Servers, libraries and locks word their own errors, and a trace quotes them. This file
// extracts facts from these texts.

// UnknownScript reports whether a reply is the error with which Redis refuses to run a
// script that it does not know: no client has loaded it yet, or Redis has been restarted
// since.
func UnknownScript(reply *trace.Event) bool {
	return reply.Reply && strings.HasPrefix(reply.Text, "NOSCRIPT")
}

// failurePrefixes are the texts with which package locks begins the error of a failed step.
// They say nothing but that the step failed.
var failurePrefixes = map[trace.Step]string{
	trace.Acquire: "lock not acquired: ",
	trace.Mint:    "no fencing token: ",
}

// lockLostText is the text with which package locks reports that the client no longer held
// the lock. A lock may put the name of the call that noticed it before this text.
const lockLostText = "lock lost"

// NotHeld reports whether a call of extend or release failed because the client no longer
// held the lock. It understands only the error text of package locks, not a lock's own
// words.
func NotHeld(failed *Call) bool {
	return failed.Failed() && strings.Contains(failed.Ended.Text, lockLostText)
}

var numberedNode = lazy.Regexp(`\bnode ([0-9]+):`)

// FailureText returns the error text of a failed call, or "" if the call did not fail. It
// leaves out the words that say only that the step failed. Some locks do not know the names
// of their nodes and number them in errors of acquire and release; FailureText replaces
// these numbers by names.
func (h *History) FailureText(failed *Call) string {
	if failed.Ended == nil {
		return ""
	}
	text := strings.TrimPrefix(failed.Ended.Text, failurePrefixes[failed.Step])
	if failed.Step != trace.Acquire && failed.Step != trace.Release {
		return text
	}
	var nodes []string
	for _, l := range h.Trace.Locks {
		if l.Name == h.lockOf(failed) {
			for _, slot := range l.Slots {
				nodes = append(nodes, slot.Node)
			}
		}
	}
	return numberedNode().ReplaceAllStringFunc(text, func(found string) string {
		n, err := strconv.Atoi(numberedNode().FindStringSubmatch(found)[1])
		if err != nil || n < 1 || n > len(nodes) {
			return found
		}
		return nodes[n-1] + ":"
	})
}

// lockOf returns the lock of the acquisition that a call belongs to.
func (h *History) lockOf(c *Call) string {
	for _, acquire := range h.CallsOf(c.Acquisition) {
		if acquire.Step == trace.Acquire {
			return acquire.Lock
		}
	}
	return ""
}

// CauseOfEnd returns the failed call whose error ended a client's program, and the text that
// precedes this error in the error of the program. done is the event with which the program ended.
// If several acquisitions failed with this error, CauseOfEnd chooses the last of them. Of its
// failed calls it chooses the first, because a later call may only have repeated the error.
// CauseOfEnd returns nil if the program did not end because of a call.
func (h *History) CauseOfEnd(done *trace.Event) (failed *Call, before string) {
	endsProgram := func(c *Call) bool {
		return c.Failed() && c.Client == done.Process && c.Ended.Text != "" && c.Ended.Seq <= done.Seq && strings.HasSuffix(done.Text, c.Ended.Text)
	}
	for _, c := range h.Calls() {
		switch {
		case !endsProgram(c):
		case failed == nil, c.Acquisition != failed.Acquisition && c.Ended.Seq > failed.Ended.Seq,
			c.Acquisition == failed.Acquisition && c.Ended.Seq < failed.Ended.Seq:
			failed = c
		}
	}
	if failed == nil {
		return nil, ""
	}
	return failed, strings.TrimSuffix(strings.TrimSuffix(done.Text, failed.Ended.Text), ": ")
}
