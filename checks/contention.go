package checks

import "github.com/locksim/locksim/history"

// blockEachOther reports whether, since the last fault, clients failed to acquire the lock only
// because other clients held it or asked for it. No lock can prevent that, because the clients
// choose when to ask again and how long to work. Every failed attempt must have met keys of other
// clients, and only of clients that were entitled to them. A client is entitled to its keys while
// it asks for the lock or holds it. A client that crashed, or that a fault hindered, is also
// entitled to leave its keys for less than a TTL. Keys that a failed attempt left behind are the
// lock's fault. If no attempt failed, other clients' keys must make the lock unavailable at the end
// of the time.
func (c *calmTime) blockEachOther(lock string) bool {
	contention := c.Contention(lock, c.until)
	failed := false
	for _, e := range contention.FailedAcquires {
		if history.MomentOf(e.Ended).Before(c.from) {
			continue
		}
		if !e.MetOtherKeys || e.MetLeftoverKeys {
			return false
		}
		failed = true
	}
	// If a client waits for a release that never returns, that is the lock's fault.
	return (failed || contention.Unavailable) && !contention.AwaitsRelease
}
