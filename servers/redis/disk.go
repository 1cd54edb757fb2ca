package redis

import (
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A disk is the disk of a node: the data that the node has written to it, and the next write that
// is planned.
type disk struct {
	n      *node
	policy sim.Persistence
	// saved is what is on the disk: what a power loss leaves.
	saved keyspace
	// isSyncPlanned reports whether the next write to the disk is scheduled.
	isSyncPlanned bool
	// lastSync is the true time (the simulation's, not that of the node's clock) of the last write
	// to the disk, or of the start.
	lastSync time.Duration
	// unsyncedChanges counts the changes of keys since lastSync.
	unsyncedChanges int
	// hasMissedChanges reports whether the data set was changed without a call of
	// recordChanges, by an update of the master.
	hasMissedChanges bool
	// isSyncStalled reports whether the last write to the disk has not ended, because the
	// disk stalls. hasPostponed reports whether keys have changed since that write began.
	isSyncStalled, hasPostponed bool
	// handedToOS is the data that the operating system had got when the stalled write began.
	handedToOS keyspace
}

// maxPostponed is how long Redis keeps new data for its append-only file in memory while an
// earlier write of the file to the disk has not ended. After that time Redis appends the data
// nevertheless, which blocks the server until the disk works again. See flushAppendOnlyFile in
// https://github.com/redis/redis/blob/unstable/src/aof.c, and "Latency due to AOF and disk I/O"
// in https://redis.io/docs/latest/operate/oss_and_stack/management/optimization/latency/.
const maxPostponed = 2 * time.Second

// recordChanges notes that keys have changed. It writes the changes to the disk now or plans the
// next write, depending on the persistence.
func (d *disk) recordChanges(changes []keyChange) {
	count := len(changes)
	d.unsyncedChanges += count
	switch d.policy {
	case Always:
		if d.hasMissedChanges {
			d.saved, d.hasMissedChanges = d.n.keys.clone(), false
			return
		}
		for _, e := range changes {
			if e.isDeleted {
				delete(d.saved, e.id)
			} else {
				d.saved[e.id] = e.entry
			}
		}
	case Everysec:
		if d.isSyncStalled {
			d.postpone()
			return
		}
		d.planSync(max(d.lastSync+time.Second, d.n.host.Now()))
	case Snapshots:
		after := time.Hour
		switch {
		case d.unsyncedChanges >= 10_000:
			after = time.Minute
		case d.unsyncedChanges >= 100:
			after = 5 * time.Minute
		}
		// Plan the write anew when the number of changes reaches 1, 100 or 10,000.
		if d.unsyncedChanges == count || d.unsyncedChanges-count < 100 && d.unsyncedChanges >= 100 || d.unsyncedChanges-count < 10_000 && d.unsyncedChanges >= 10_000 {
			d.isSyncPlanned = false
			d.planSync(max(d.lastSync+after, d.n.host.Now()))
		}
	}
}

// planSync plans a write of the data set to the disk at a true time. A crash before that
// time cancels it.
func (d *disk) planSync(at time.Duration) {
	if d.isSyncPlanned {
		return
	}
	d.isSyncPlanned = true
	epoch := d.n.crashCount
	d.n.host.At(at, func() {
		if d.isSyncPlanned && epoch == d.n.crashCount {
			d.n.host.WhenRunning(d.sync)
		}
	})
}

// sync writes the data set to the disk if it has changed. With Everysec, the write does not
// end while the disk stalls.
func (d *disk) sync() {
	d.isSyncPlanned = false
	if d.unsyncedChanges == 0 {
		return
	}
	d.unsyncedChanges = 0
	d.lastSync = d.n.host.Now()
	if d.policy == Everysec && d.n.host.IsDiskStalled() {
		d.isSyncStalled, d.handedToOS = true, d.n.keys.clone()
		return
	}
	d.recordSync(d.n.keys.clone())
}

// recordSync notes that a write to the disk has ended, and what is on the disk now.
func (d *disk) recordSync(keys keyspace) {
	d.saved = keys
	d.n.host.Emit(trace.Event{Kind: trace.KindSync, Text: string(d.policy)})
}

// postpone keeps changes in the server's memory while a write to the disk has not ended.
// After maxPostponed, the node stops until the disk works again.
func (d *disk) postpone() {
	if d.hasPostponed {
		return
	}
	d.hasPostponed = true
	since, epoch, host := d.lastSync, d.n.crashCount, d.n.host
	host.At(host.Now()+maxPostponed, func() {
		host.WhenRunning(func() {
			if d.hasPostponed && d.lastSync == since && epoch == d.n.crashCount && host.IsDiskStalled() {
				host.AwaitDisk()
			}
		})
	})
}

// DiskBack implements [sim.Durable]. The write that had stalled has now ended. If changes
// were postponed, the next write is planned.
func (n *node) DiskBack() {
	d := &n.disk
	if !d.isSyncStalled {
		return
	}
	d.recordSync(d.handedToOS)
	postponed := d.hasPostponed
	d.resetSync()
	if postponed {
		d.planSync(max(d.lastSync+time.Second, n.host.Now()))
	}
}

// resetSync forgets a stalled write that has ended, or that a crash has interrupted.
func (d *disk) resetSync() { d.isSyncStalled, d.hasPostponed, d.handedToOS = false, false, nil }

// afterCrash returns the data that a node finds on its disk when it restarts after a crash.
func (d *disk) afterCrash(how trace.Crash) keyspace {
	switch {
	case d.policy == sim.NoPersistence:
		return keyspace{}
	case how == trace.Kill && d.isSyncStalled:
		return d.handedToOS.clone()
	case how == trace.Shutdown, how == trace.Kill && d.policy != Snapshots:
		// The operating system keeps what a killed process has written, even if it is not on the
		// disk yet.
		return d.n.keys.clone()
	}
	return d.saved.clone()
}

// Crash implements [sim.Server]. The node keeps its record of the keys until it restarts:
// only then can a client notice that keys are lost, so only then does the trace say so.
func (n *node) Crash(how trace.Crash) {
	n.survivingKeys = n.disk.afterCrash(how)
	n.crashCount++
	n.expiryAlarm.Set(time.Time{})
	n.disk.isSyncPlanned = false
	n.disk.unsyncedChanges = 0
	n.disk.resetSync()
	n.repl.crash()
	n.halt()
}

// Restart starts the server again with the data on its disk, and without stored scripts.
// The times at which keys expire are absolute, so keys can expire during the outage.
func (n *node) Restart() {
	n.boot()
	for _, id := range n.sortedIDs(n.survivingKeys) {
		n.writeKey(id, n.survivingKeys[id])
	}
	loaded := n.readAllKeys()
	for _, id := range n.sortedIDs(n.keys) {
		was := n.keys[id]
		current, exists := loaded[id]
		switch {
		case n.hasExpired(was), !exists:
			n.host.Emit(n.goneEvent(trace.KindForget, id, was, nil))
		case was.sameValueAndExpiry(current):
			current.owner = was.owner
			loaded[id] = current
		} // a key with another value is recorded in the next loop
	}
	for _, id := range n.sortedIDs(loaded) {
		current := loaded[id]
		if current.owner != nil {
			continue
		}
		current.owner = n.survivingKeys[id].owner
		loaded[id] = current
		if !n.keys[id].sameValueAndExpiry(current) {
			n.host.Emit(n.keyEvent(trace.KindRestore, id, current))
		}
	}
	n.recordAll(loaded)
	n.disk.saved, n.disk.hasMissedChanges = loaded.clone(), false
	n.disk.lastSync = n.host.Now()
	n.planExpiry()
	n.repl.Restart()
}
