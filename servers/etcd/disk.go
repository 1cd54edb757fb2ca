package etcd

import (
	"go.etcd.io/raft/v3"

	"github.com/locksim/locksim/fakeclock"
)

// A pendingSave is what a member must write to its disk before it continues with what raft
// has given it. While the disk stalls the member waits here: it sends nothing more, applies
// no more entries, and its ticks are lost. Work that does not go through raft continues.
// Raft still reads the other members' messages, so it may know that another member leads;
// the member itself learns that with raft's next Ready, and acts as the leader that it was
// until then. See start in server/etcdserver/raft.go.
type pendingSave struct {
	ready raft.Ready
	since fakeclock.Reading
}

// DiskBack implements [sim.Durable].
func (m *member) DiskBack() {
	if m.saving == nil {
		return
	}
	led, ready := m.isLeader(), m.saving.ready
	m.saving = nil
	if !led {
		m.sendAll(ready.Messages)
	}
	m.finishSave(ready)
	m.processReady()
	if !led {
		m.resetElectionTimeout()
	}
	m.cluster.wakeAll()
	m.settle()
}

// waitsForDisk reports whether the member waits for its disk.
func (m *member) waitsForDisk() bool { return m.saving != nil }

// waitForDisk makes the member wait for its disk, which others may notice.
func (m *member) waitForDisk(ready raft.Ready) {
	m.saving = &pendingSave{ready, m.now()}
	m.scheduleGiveUp()
	m.cluster.wakeAll()
}

// tickedLately reports whether the member has ticked lately: isActive in
// server/etcdserver/server.go.
func (m *member) tickedLately() bool {
	return !m.pulse.mayBeStale && !(m.waitsForDisk() && m.now().Sub(m.saving.since) > 3*tick)
}

// wakeAll makes all members send heartbeats, or watch for them, again.
func (c *cluster) wakeAll() {
	for _, m := range c.members {
		m.Attend()
	}
}
