package etcd

import (
	"go.etcd.io/raft/v3"

	"github.com/locksim/locksim/fakeclock"
)

// A pendingSave is what a member must write to its disk before it continues with what raft has
// ready. While the disk stalls the member waits: it sends nothing more, applies no more entries,
// and drops the ticks of raft's clock. Work that does not go through raft continues. Raft still
// reads the other members' messages, so it may know that another member leads. The member itself
// learns that only with raft's next Ready, and acts as the leader until then. See start in
// server/etcdserver/raft.go.
type pendingSave struct {
	ready raft.Ready
	since fakeclock.Reading // when the member began to wait
}

// DiskBack implements [sim.Durable]. It is called when the disk no longer stalls.
func (m *member) DiskBack() {
	if m.saving == nil {
		return
	}
	wasLeader, ready := m.isLeader(), m.saving.ready
	m.saving = nil
	if !wasLeader {
		m.sendAll(ready.Messages)
	}
	m.finishSave(ready)
	m.processReady()
	if !wasLeader {
		m.resetElectionTimeout()
	}
	m.cluster.wakeAll()
	m.finishInput()
}

// waitsForDisk reports whether the member waits for a stalled disk.
func (m *member) waitsForDisk() bool { return m.saving != nil }

// waitForDisk makes the member wait for its disk. The other members may notice its silence.
func (m *member) waitForDisk(ready raft.Ready) {
	m.saving = &pendingSave{ready, m.now()}
	m.scheduleGiveUp()
	m.cluster.wakeAll()
}

// hasTickedRecently reports whether the member's raft has ticked recently. It is isActive
// in server/etcdserver/server.go.
func (m *member) hasTickedRecently() bool {
	return !m.pulse.mayBeStale && !(m.waitsForDisk() && m.now().Sub(m.saving.since) > 3*tick)
}

// wakeAll makes all members send heartbeats, or watch for them, again. See calmAfter.
func (c *cluster) wakeAll() {
	for _, m := range c.members {
		m.Attend()
	}
}
