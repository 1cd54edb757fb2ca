package checks

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A link is that a client which has one lock waits for another, which somebody else has.
type link struct {
	Client, Has, Wants, Holder string
}

// circle is a circle of clients each of which waits, at a moment, for a lock that the next has
// and will not give up before it has got its own; nil if a client is in none and waits for none
// that is.
func (h *inquiry) circle(client string, at history.Moment) []link {
	waits := h.waitingWithin(at)
	var way []link
	for {
		l, waiting := waits[client]
		if !waiting {
			return nil
		}
		if i := slices.IndexFunc(way, func(o link) bool { return o.Client == client }); i >= 0 {
			return way[i:]
		}
		way = append(way, l)
		client = l.Holder
	}
}

// waitingWithin says of each client that waits for a lock at a moment what it has and who has
// what it waits for. What a client waits for that has no lock stands in nobody's way.
func (h *inquiry) waitingWithin(at history.Moment) map[string]link {
	last := map[string]*history.Call{}
	for _, c := range h.Calls() {
		if c.Step == trace.Acquire && c.Began != nil && !at.Before(history.MomentOf(c.Began)) {
			last[c.Client] = c
		}
	}
	in := map[string]*history.Section{} // by lock: the one that was granted last of those that are not over
	for _, s := range h.Sections() {
		if !at.Before(s.From) && at.Before(s.To) {
			in[s.Lock] = s
		}
	}
	waits := map[string]link{}
	for client, c := range last {
		if c.OK() && !at.Before(history.MomentOf(c.Ended)) {
			continue
		}
		l := link{Client: client, Wants: c.Lock}
		if outer := h.Section(history.Acquisition{Client: client, Section: c.Began.Within}); outer != nil && at.Before(outer.To) {
			l.Has = outer.Lock
		}
		if holder := in[c.Lock]; holder != nil {
			l.Holder = holder.Client
			waits[client] = l
		}
	}
	return waits
}
