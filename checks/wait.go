package checks

import "github.com/locksim/locksim/trace"

// A wait is a client's for a lock, from its first call of acquire for a section.
type wait struct {
	Client, Lock string
	Asked        *trace.Event
	// Granted is nil if it never was.
	Granted *trace.Event
}

// waits are those of all clients, in the order in which they began.
func (h *inquiry) waits() []wait {
	var all []wait
	pending := map[string]int{} // each client's, by its place
	for _, c := range h.Calls() {
		if c.Step != trace.Acquire {
			continue
		}
		i, waits := pending[c.Client]
		if c.Began != nil && !waits {
			i, waits = len(all), true
			pending[c.Client] = i
			all = append(all, wait{Client: c.Client, Lock: c.Lock, Asked: c.Began})
		}
		if waits && c.OK() {
			all[i].Granted = c.Ended
			delete(pending, c.Client)
		}
	}
	return all
}
