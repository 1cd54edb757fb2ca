package checks

import "github.com/locksim/locksim/history"

// inEachOthersWay reports whether every attempt at a lock that failed since the last
// fault met keys of others who were entitled to have them there, and none else: of
// clients that were asking for the lock, too, or held it, or had left them less than a
// TTL before because they crashed or a fault hinders them. If none failed, somebody must
// hold the lock in the end. That is nothing that the lock could help: when to ask again,
// and how long to work, are the clients' choices. What an attempt has left behind that
// failed is the lock's doing.
func (c *calm) inEachOthersWay(lock string) bool {
	crowd := c.Crowd(lock, c.until)
	failed := false
	for _, e := range crowd.Met {
		if history.MomentOf(e.Ended).Before(c.from) {
			continue
		}
		if !e.Some || e.Wrong {
			return false
		}
		failed = true
	}
	// Whoever waits for a release that never returns does so because of the lock.
	return (failed || crowd.Held) && !crowd.Releasing
}
