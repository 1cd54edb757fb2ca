package etcd

import (
	"log"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
)

// firstIndex is the entry of the log that contains the list of members; all members have it
// from the start.
const firstIndex = 1

// firstDisk writes to a new member's disk what it knows from the start: the list of
// members.
func firstDisk(disk *raft.MemoryStorage, members []uint64) {
	must(disk.ApplySnapshot(&raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{
		Index: new(uint64(firstIndex)), Term: new(uint64(1)), ConfState: &raftpb.ConfState{Voters: members},
	}}))
	must(disk.SetHardState(&raftpb.HardState{Term: new(uint64(1)), Commit: new(uint64(firstIndex))}))
}

// must is for errors that cannot happen: the disk is memory, and raft made what is written
// to it.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// startRaft starts raft with what is on the disk.
func (m *member) startRaft() {
	node, err := raft.NewRawNode(&raft.Config{
		ID:              m.id,
		ElectionTick:    electionTicks,
		HeartbeatTick:   1,
		Storage:         m.disk,
		Applied:         firstIndex,
		MaxSizePerMsg:   512 << 10, // this and the next are etcd's values: server/etcdserver/raft.go
		MaxInflightMsgs: 512,
		CheckQuorum:     true,
		PreVote:         true,
		Logger:          silent{},
	})
	must(err)
	m.node = node
}

// silentLogger discards raft's log. A fatal error of raft is a bug in this package, and
// panics.
type silent struct{}

func (silent) Debug(...any)              {}
func (silent) Debugf(string, ...any)     {}
func (silent) Error(...any)              {}
func (silent) Errorf(string, ...any)     {}
func (silent) Info(...any)               {}
func (silent) Infof(string, ...any)      {}
func (silent) Warning(...any)            {}
func (silent) Warningf(string, ...any)   {}
func (silent) Fatal(v ...any)            { log.Panic(v...) }
func (silent) Fatalf(s string, v ...any) { log.Panicf(s, v...) }
func (silent) Panic(v ...any)            { log.Panic(v...) }
func (silent) Panicf(s string, v ...any) { log.Panicf(s, v...) }

// leader returns the leader, as far as the member knows; 0 if it knows none.
func (m *member) leader() uint64 { return m.leading }

func (m *member) isLeader() bool { return m.leading == m.id }

func (m *member) term() uint64 { return m.node.BasicStatus().GetTerm() }

// processReady does all that raft has ready for the member. It writes to the disk before it
// sends messages, so a crash loses nothing that other members know. Only a leader sends its
// messages first: the other members write to their disks at the same time.
func (m *member) work() {
	for !m.stuck() && m.node.HasReady() {
		ready := m.node.Ready()
		if ready.SoftState != nil {
			m.lead(ready.SoftState.Lead)
		}
		stalls := ready.MustSync && m.host.DiskStalls() && m.cluster.formed
		if !stalls || m.isLeader() {
			m.tellAll(ready.Messages)
		}
		for _, e := range ready.CommittedEntries {
			m.apply(e)
		}
		for _, r := range ready.ReadStates {
			m.reading.confirmed(m, r)
		}
		if stalls {
			m.await(ready)
			return
		}
		m.saved(ready)
	}
}

// finishSave writes to the disk and lets raft continue.
func (m *member) saved(ready raft.Ready) {
	if !raft.IsEmptyHardState(ready.HardState) {
		must(m.disk.SetHardState(ready.HardState))
	}
	must(m.disk.Append(ready.Entries))
	m.node.Advance(ready)
}

func (m *member) tellAll(messages []*raftpb.Message) {
	for _, msg := range messages {
		m.tell(msg)
	}
}

// setLeader handles that the leader has changed; 0 means that there is none.
func (m *member) lead(by uint64) {
	if by == m.leading {
		return
	}
	was := m.leading
	m.leading = by
	m.pulse.unsure = false
	if was == m.id {
		m.lessor.demote()
		m.reset()
	}
	if m.cluster.formed {
		if m.pulse.calm = false; m.isLeader() {
			m.cluster.stirred = m.host.Now()
			m.beatLater()
		} else {
			m.awaitLeader()
		}
	}
	m.leaderless.stop()
	if by == 0 {
		m.leaderless = m.after(abandonAfter, m.abandon)
	}
	m.reading.leaderChanged(m)
	m.proposals.leaderChanged(m)
	m.questions.leaderChanged(m)
	m.cluster.led(m)
}

// leaderlessTimeout is how long a member without a leader continues calls that need one:
// monitorLeader in server/etcdserver/api/v3rpc/interceptor.go.
const abandonAfter = 3 * electionTimeout

// endLeaderlessCalls ends the streaming calls that need a leader.
func (m *member) abandon() {
	for _, c := range m.conns {
		for _, stream := range c.streams() {
			if call := c.calls[stream]; call.leads && call.flow != nil {
				call.fail(rpctypes.ErrGRPCNoLeader)
				call.flow.ended(true)
			}
		}
	}
}
