package redis

import (
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// disk is the content of a node's disk.
type disk struct {
	n      *node
	policy sim.Persistence
	// saved is what a power loss leaves.
	saved keyspace
	// planned: the next write to the disk is scheduled.
	planned bool
	// written is the time of the last write, or of the start; changes counts the changes
	// since.
	written time.Duration
	changes int
	// missed: there were changes that were not recorded here.
	missed bool
	// syncing: the last write has not ended, because the disk stalls. handedToOS is what
	// the operating system got before it, and postponed reports that something has changed
	// since.
	syncing, postponed bool
	handedToOS         keyspace
}

// maxPostponed is how long Redis keeps data for its append-only file in memory while the
// file is being written to the disk. After that it appends the data nevertheless, and
// blocks until the disk continues. See flushAppendOnlyFile in
// https://github.com/redis/redis/blob/unstable/src/aof.c, and "Latency due to AOF and disk
// I/O" in
// https://redis.io/docs/latest/operate/oss_and_stack/management/optimization/latency/.
const maxPostponed = 2 * time.Second

// recordChanges records changes of the data set.
func (d *disk) recordChanges(effects []keyChange) {
	changes := len(effects)
	d.changes += changes
	switch d.policy {
	case Always:
		if d.missed {
			d.saved, d.missed = d.n.keys.clone(), false
			return
		}
		for _, e := range effects {
			if e.gone {
				delete(d.saved, e.id)
			} else {
				d.saved[e.id] = e.entry
			}
		}
	case Everysec:
		if d.syncing {
			d.postpone()
			return
		}
		d.planSync(max(d.written+time.Second, d.n.host.Now()))
	case Snapshots:
		after := time.Hour
		switch {
		case d.changes >= 10_000:
			after = time.Minute
		case d.changes >= 100:
			after = 5 * time.Minute
		}
		if d.changes == changes || d.changes-changes < 100 && d.changes >= 100 || d.changes-changes < 10_000 && d.changes >= 10_000 {
			d.planned = false
			d.planSync(max(d.written+after, d.n.host.Now()))
		}
	}
}

// planSync writes the data set to the disk at a time, unless the node is down then.
func (d *disk) planSync(at time.Duration) {
	if d.planned {
		return
	}
	d.planned = true
	epoch := d.n.epoch
	d.n.host.At(at, func() {
		if d.planned && epoch == d.n.epoch {
			d.n.host.WhenRunning(d.sync)
		}
	})
}

func (d *disk) sync() {
	d.planned = false
	if d.changes == 0 {
		return
	}
	d.changes = 0
	d.written = d.n.host.Now()
	if d.policy == Everysec && d.n.host.IsDiskStalled() {
		d.syncing, d.handedToOS = true, d.n.keys.clone()
		return
	}
	d.recordSync(d.n.keys.clone())
}

// recordSync records what is on the disk now.
func (d *disk) recordSync(keys keyspace) {
	d.saved = keys
	d.n.host.Emit(trace.Event{Kind: trace.KindSync, Text: string(d.policy)})
}

// postpone keeps a change in the server's memory.
func (d *disk) postpone() {
	if d.postponed {
		return
	}
	d.postponed = true
	since, epoch, host := d.written, d.n.epoch, d.n.host
	host.At(host.Now()+maxPostponed, func() {
		host.WhenRunning(func() {
			if d.postponed && d.written == since && epoch == d.n.epoch && host.IsDiskStalled() {
				host.AwaitDisk()
			}
		})
	})
}

// DiskBack is as in [sim.Durable]. The unfinished write is now on the disk. What was
// postponed is appended, to be written when it is due.
func (n *node) DiskBack() {
	d := &n.disk
	if !d.syncing {
		return
	}
	d.recordSync(d.handedToOS)
	postponed := d.postponed
	d.resetSync()
	if postponed {
		d.planSync(max(d.written+time.Second, n.host.Now()))
	}
}

// resetSync is called when no write is unfinished any more.
func (d *disk) resetSync() { d.syncing, d.postponed, d.handedToOS = false, false, nil }

// afterCrash returns what a node finds on its disk after a crash.
func (d *disk) afterCrash(how trace.Crash) keyspace {
	switch {
	case d.policy == sim.NoPersistence:
		return keyspace{}
	case how == trace.Kill && d.syncing:
		return d.handedToOS.clone()
	case how == trace.Shutdown, how == trace.Kill && d.policy != Snapshots:
		// A killed process leaves what it had written with the operating system.
		return d.n.keys.clone()
	}
	return d.saved.clone()
}

// Crash is as in [sim.Server]. The node keeps its record of the keys until it restarts,
// because before then nobody can notice that they are gone.
func (n *node) Crash(how trace.Crash) {
	n.survived = n.disk.afterCrash(how)
	n.epoch++
	n.expiry.Set(time.Time{})
	n.disk.planned = false
	n.disk.changes = 0
	n.disk.resetSync()
	n.repl.crash()
	n.halt()
}

// Restart starts the server again with the content of its disk. Expiry times are absolute,
// so time has passed for the keys too. The script cache is empty.
func (n *node) Restart() {
	n.boot()
	for _, id := range n.survived.ids() {
		n.put(id, n.survived[id])
	}
	now := n.scan()
	for _, id := range n.keys.ids() {
		was := n.keys[id]
		is, still := now[id]
		switch {
		case n.hasExpired(was), !still:
			n.host.Emit(n.goneEvent(trace.KindForget, id, was, nil))
		case was.isLike(is):
			is.owner = was.owner
			now[id] = is
		} // otherwise it is reported below
	}
	for _, id := range now.ids() {
		is := now[id]
		if is.owner != nil {
			continue
		}
		is.owner = n.survived[id].owner
		now[id] = is
		if !n.keys[id].isLike(is) {
			n.host.Emit(n.keyEvent(trace.KindRestore, id, is))
		}
	}
	n.recordAll(now)
	n.disk.saved, n.disk.missed = now.clone(), false
	n.disk.written = n.host.Now()
	n.planExpiry()
	n.repl.Restart()
}
