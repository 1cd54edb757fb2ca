package etcd

import (
	"go.etcd.io/raft/v3"

	"github.com/locksim/locksim/fakeclock"
)

// A save is what a member has to have on its disk before it goes on with what raft has for
// it. While the disk stalls it waits there: it sends nothing more, does nothing more of what
// was decided, and its ticks are lost. What does not go through raft goes on. It takes in
// what the others say, so that raft may know long since that another leads; but the member
// itself learns that with the next that raft has for it, and until then it is the leader that
// it was. See start in server/etcdserver/raft.go.
type save struct {
	ready raft.Ready
	since fakeclock.Reading
}

// DiskBack is as in [sim.Durable].
func (m *member) DiskBack() {
	if m.saving == nil {
		return
	}
	led, ready := m.isLeader(), m.saving.ready
	m.saving = nil
	if !led {
		m.tellAll(ready.Messages)
	}
	m.saved(ready)
	m.work()
	if !led {
		m.reset()
	}
	m.cluster.stir()
	m.settle()
}

// stuck says that the member waits for its disk.
func (m *member) stuck() bool { return m.saving != nil }

// await has a member wait for its disk, which others may notice.
func (m *member) await(ready raft.Ready) {
	m.saving = &save{ready, m.now()}
	m.hurry()
	m.cluster.stir()
}

// active says that the member has ticked lately: isActive in server/etcdserver/server.go.
func (m *member) active() bool {
	return !m.pulse.unsure && !(m.stuck() && m.now().Sub(m.saving.since) > 3*tick)
}

// stir has all members listen again, and tell.
func (c *cluster) stir() {
	for _, m := range c.members {
		m.Attend()
	}
}
