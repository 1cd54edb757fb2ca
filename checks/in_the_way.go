package checks

import "github.com/locksim/locksim/history"

// inEachOthersWay reports whether every attempt at a lock that failed since the
// last fault, and at least one did, met keys of others who were entitled to have
// them there, and none else: of clients that were asking for the lock, too, or
// held it, or had crashed less than a TTL before. That is nothing that the lock
// could help: when to ask again is the clients' choice. What an attempt has left
// behind that failed is the lock's doing.
func (c *calm) inEachOthersWay(lock string) bool {
	met, releasing := c.Encounters(lock, c.until)
	failed := false
	for _, e := range met {
		if history.MomentOf(e.Ended).Before(c.from) {
			continue
		}
		if !e.Some || e.Wrong {
			return false
		}
		failed = true
	}
	// Whoever waits for a release that never returns does so because of the lock.
	return failed && !releasing
}
