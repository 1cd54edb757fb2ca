package history

import (
	"strconv"
	"strings"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/trace"
)

// What servers, libraries and locks say of an error is their own text. A trace quotes it,
// and what has to be told apart of it is told apart here.

// UnknownScript says that a reply is Redis's that it does not know the script which it
// was to run: nobody has told it yet, or it has been restarted since.
func UnknownScript(reply *trace.Event) bool {
	return reply.Reply && strings.HasPrefix(reply.Text, "NOSCRIPT")
}

// sayOnlyThat are the words with which an error says no more than that its step failed,
// as package locks has them.
var sayOnlyThat = map[trace.Step]string{
	trace.Acquire: "lock not acquired: ",
	trace.Mint:    "no fencing token: ",
}

// notHeld are the words with which a lock says that it was not the client's any more, as
// package locks has them; a lock may say before them in which call it noticed.
const notHeld = "lock lost"

// NotHeld reports whether a call of extend or release failed because the lock was not the
// client's any more, as the error says in the words of package locks. A lock that has words of
// its own for that is not understood.
func NotHeld(failed *Call) bool {
	return failed.Failed() && strings.Contains(failed.Ended.Text, notHeld)
}

var numberedNode = lazy.Regexp(`\bnode ([0-9]+):`)

// Why is why a call failed, as whoever failed says it; "" if it has not. That the step
// failed need not be said again. Where a lock numbers its nodes in acquire and release,
// since it does not know their names, the name takes the number's place.
func (h *History) Why(failed *Call) string {
	if failed.Ended == nil {
		return ""
	}
	text := strings.TrimPrefix(failed.Ended.Text, sayOnlyThat[failed.Step])
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

// lockOf is the lock of the acquisition that a call belongs to.
func (h *History) lockOf(c *Call) string {
	for _, acquire := range h.CallsOf(c.Acquisition) {
		if acquire.Step == trace.Acquire {
			return acquire.Lock
		}
	}
	return ""
}

// Undoing is why a client's program ended: because a call had failed, with whose error
// the program's own ends, and before is what that says before it. It is the first call of
// its acquisition with that error, which what it calls can hand on; nil if the program
// ended because of none.
func (h *History) Undoing(done *trace.Event) (failed *Call, before string) {
	undoes := func(c *Call) bool {
		return c.Failed() && c.Client == done.Process && c.Ended.Text != "" && c.Ended.Seq <= done.Seq && strings.HasSuffix(done.Text, c.Ended.Text)
	}
	for _, c := range h.Calls() {
		switch {
		case !undoes(c):
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
