package checks

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A waitLink has a client that waits for the lock Wanted, the lock Held that it holds itself,
// and the Holder of the lock that it waits for.
type waitLink struct {
	Client, Held, Wanted, Holder string
}

// waitCycle returns a cycle of clients at a moment: each waits for a lock that the next client
// holds, and no client releases its own lock before it is granted the other one. The search starts
// from the given client and goes from each client to the holder that it waits for. The result is
// nil if this leads to no cycle.
func (h *judgedRun) waitCycle(client string, at history.Moment) []waitLink {
	waits := h.waitLinks(at)
	var path []waitLink
	for {
		l, waiting := waits[client]
		if !waiting {
			return nil
		}
		if i := slices.IndexFunc(path, func(o waitLink) bool { return o.Client == client }); i >= 0 {
			return path[i:]
		}
		path = append(path, l)
		client = l.Holder
	}
}

// waitLinks returns, for each client that waits for a held lock at a moment, which lock the client
// holds itself and which client holds the lock that it waits for. Held is "" if the client holds no
// lock; then it blocks no other client.
func (h *judgedRun) waitLinks(at history.Moment) map[string]waitLink {
	last := map[string]*history.Call{}
	for _, c := range h.Calls() {
		if c.Step == trace.Acquire && c.Began != nil && !at.Before(history.MomentOf(c.Began)) {
			last[c.Client] = c
		}
	}
	sections := map[string]*history.Section{} // by lock: the latest that has not ended
	for _, s := range h.Sections() {
		if !at.Before(s.From) && at.Before(s.To) {
			sections[s.Lock] = s
		}
	}
	waits := map[string]waitLink{}
	for client, c := range last {
		if c.OK() && !at.Before(history.MomentOf(c.Ended)) {
			continue
		}
		l := waitLink{Client: client, Wanted: c.Lock}
		if outer := h.Section(history.Acquisition{Client: client, Section: c.Began.OuterSection}); outer != nil && at.Before(outer.To) {
			l.Held = outer.Lock
		}
		if holder := sections[c.Lock]; holder != nil {
			l.Holder = holder.Client
			waits[client] = l
		}
	}
	return waits
}
