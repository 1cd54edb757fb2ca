package etcd

// This file runs the raft library for a member: the library decides what is in the log, and the
// member writes the log to its disk, sends raft's messages and applies the entries.

import (
	"log"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
)

// firstIndex is the index of the log entry that contains the list of members. All members
// have this entry from the start.
const firstIndex = 1

// firstDisk writes to a new member's disk the list of members, which a member knows from
// the start.
func firstDisk(disk *raft.MemoryStorage, members []uint64) {
	must(disk.ApplySnapshot(&raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{
		Index: new(uint64(firstIndex)), Term: new(uint64(1)), ConfState: &raftpb.ConfState{Voters: members},
	}}))
	must(disk.SetHardState(&raftpb.HardState{Term: new(uint64(1)), Commit: new(uint64(firstIndex))}))
}

// must panics on errors that cannot happen: the disk is memory, and raft itself has made
// what is written to it.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// startRaft starts raft with the log that is on the disk.
func (m *member) startRaft() {
	node, err := raft.NewRawNode(&raft.Config{
		ID:              m.id,
		ElectionTick:    electionTicks,
		HeartbeatTick:   1,
		Storage:         m.disk,
		Applied:         firstIndex,
		MaxSizePerMsg:   512 << 10, // the values of this field and the next are etcd's: server/etcdserver/raft.go
		MaxInflightMsgs: 512,
		CheckQuorum:     true,
		PreVote:         true,
		Logger:          silentLogger{},
	})
	must(err)
	m.node = node
}

// silentLogger discards the messages that raft logs. It panics on a fatal error of raft,
// because that is a mistake in this package.
type silentLogger struct{}

func (silentLogger) Debug(...any)              {}
func (silentLogger) Debugf(string, ...any)     {}
func (silentLogger) Error(...any)              {}
func (silentLogger) Errorf(string, ...any)     {}
func (silentLogger) Info(...any)               {}
func (silentLogger) Infof(string, ...any)      {}
func (silentLogger) Warning(...any)            {}
func (silentLogger) Warningf(string, ...any)   {}
func (silentLogger) Fatal(v ...any)            { log.Panic(v...) }
func (silentLogger) Fatalf(s string, v ...any) { log.Panicf(s, v...) }
func (silentLogger) Panic(v ...any)            { log.Panic(v...) }
func (silentLogger) Panicf(s string, v ...any) { log.Panicf(s, v...) }

// leader returns the ID of the leader, as far as the member knows; 0 if it knows none.
func (m *member) leader() uint64 { return m.leaderID }

// isLeader reports whether the member believes that it leads.
func (m *member) isLeader() bool { return m.leaderID == m.id }

func (m *member) term() uint64 { return m.node.BasicStatus().GetTerm() }

// processReady does everything that raft has ready for the member: it sends messages,
// applies entries and writes to the disk. A member writes before it sends, so a crash loses
// nothing that other members know. A leader sends first, so that the other members write to
// their disks at the same time as the leader.
func (m *member) processReady() {
	for !m.waitsForDisk() && m.node.HasReady() {
		ready := m.node.Ready()
		if ready.SoftState != nil {
			m.setLeader(ready.SoftState.Lead)
		}
		stalls := ready.MustSync && m.host.IsDiskStalled() && m.cluster.isFormed
		if !stalls || m.isLeader() {
			m.sendAll(ready.Messages)
		}
		for _, e := range ready.CommittedEntries {
			m.apply(e)
		}
		for _, r := range ready.ReadStates {
			m.linearRead.confirmed(m, r)
		}
		if stalls {
			m.waitForDisk(ready)
			return
		}
		m.finishSave(ready)
	}
}

// finishSave writes what raft has ready to the disk and lets raft continue.
func (m *member) finishSave(ready raft.Ready) {
	if !raft.IsEmptyHardState(ready.HardState) {
		must(m.disk.SetHardState(ready.HardState))
	}
	must(m.disk.Append(ready.Entries))
	m.node.Advance(ready)
}

func (m *member) sendAll(messages []*raftpb.Message) {
	for _, msg := range messages {
		m.sendToPeer(msg)
	}
}

// setLeader handles a change of the leader; 0 means that the member no longer knows a leader.
func (m *member) setLeader(leader uint64) {
	if leader == m.leaderID {
		return
	}
	previous := m.leaderID
	m.leaderID = leader
	m.pulse.mayBeStale = false
	if previous == m.id {
		m.lessor.demote()
		m.resetElectionTimeout()
	}
	if m.cluster.isFormed {
		if m.pulse.isCalm = false; m.isLeader() {
			m.cluster.disturbedAt = m.host.Now()
			m.scheduleHeartbeat()
		} else {
			m.awaitLeader()
		}
	}
	m.leaderlessAlarm.stop()
	if leader == 0 {
		m.leaderlessAlarm = m.after(leaderlessTimeout, m.endLeaderlessCalls)
	}
	m.linearRead.leaderChanged(m)
	m.proposals.leaderChanged(m)
	m.questions.leaderChanged(m)
	m.cluster.recordLeader(m)
}

// leaderlessTimeout is how long a member that knows no leader continues the calls that need
// one. See monitorLeader in server/etcdserver/api/v3rpc/interceptor.go.
const leaderlessTimeout = 3 * electionTimeout

// endLeaderlessCalls ends the streaming calls that need a leader.
func (m *member) endLeaderlessCalls() {
	for _, c := range m.conns {
		for _, stream := range c.streams() {
			if call := c.calls[stream]; call.needsLeader && call.handler != nil {
				call.fail(rpctypes.ErrGRPCNoLeader)
				call.handler.clientEnded(true)
			}
		}
	}
}
