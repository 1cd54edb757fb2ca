package checks

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A waitLink is a client that waits for a lock, the lock that it holds itself, and the
// client that holds the lock it waits for.
type waitLink struct {
	Client, Has, Wants, Holder string
}

// waitCycle returns a cycle of clients at a moment: each waits for a lock that the next
// client holds, and none releases its own lock before it gets the other. It returns nil if
// the client is in no cycle and does not wait for one.
func (h *inquiry) waitCycle(client string, at history.Moment) []waitLink {
	waits := h.waitLinks(at)
	var way []waitLink
	for {
		l, waiting := waits[client]
		if !waiting {
			return nil
		}
		if i := slices.IndexFunc(way, func(o waitLink) bool { return o.Client == client }); i >= 0 {
			return way[i:]
		}
		way = append(way, l)
		client = l.Holder
	}
}

// waitLinks returns, for each client that waits for a held lock at a moment, which lock it
// holds itself and who holds the other. A client that holds no lock blocks nobody.
func (h *inquiry) waitLinks(at history.Moment) map[string]waitLink {
	last := map[string]*history.Call{}
	for _, c := range h.Calls() {
		if c.Step == trace.Acquire && c.Began != nil && !at.Before(history.MomentOf(c.Began)) {
			last[c.Client] = c
		}
	}
	in := map[string]*history.Section{} // by lock: of the sections that have not ended, the one that was granted last
	for _, s := range h.Sections() {
		if !at.Before(s.From) && at.Before(s.To) {
			in[s.Lock] = s
		}
	}
	waits := map[string]waitLink{}
	for client, c := range last {
		if c.OK() && !at.Before(history.MomentOf(c.Ended)) {
			continue
		}
		l := waitLink{Client: client, Wants: c.Lock}
		if outer := h.Section(history.Acquisition{Client: client, Section: c.Began.OuterSection}); outer != nil && at.Before(outer.To) {
			l.Has = outer.Lock
		}
		if holder := in[c.Lock]; holder != nil {
			l.Holder = holder.Client
			waits[client] = l
		}
	}
	return waits
}
