package checks

import "github.com/locksim/locksim/trace"

// A wait is a client's wait for a lock, from its first call of acquire for a critical section. If a
// client that needs several locks releases all of them because one was refused, its wait for that
// one continues.
type wait struct {
	Client, Lock string
	Asked        *trace.Event
	// Granted is nil if the lock was never granted.
	Granted *trace.Event
}

// waits returns the waits of all clients, in the order in which they began.
func (h *judgedRun) waits() []wait {
	var all []wait
	type wish struct{ client, lock string }
	pending := map[wish]int{} // the index of each pending wait
	for _, c := range h.Calls() {
		if c.Step != trace.Acquire {
			continue
		}
		key := wish{c.Client, c.Lock}
		i, waits := pending[key]
		if c.Began != nil && !waits {
			i, waits = len(all), true
			pending[key] = i
			all = append(all, wait{Client: c.Client, Lock: c.Lock, Asked: c.Began})
		}
		if waits && c.OK() {
			all[i].Granted = c.Ended
			delete(pending, key)
		}
	}
	return all
}
