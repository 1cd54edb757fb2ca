package zookeeper

import (
	"fmt"

	"github.com/locksim/locksim/sim"
)

// A message is sent from one member to another, as the body of a packet. describe describes
// it for the trace.
type message interface{ describe(*sim.Names) string }

// A vote names the member that is voted for, with the epoch, the last zxid and the number
// of that member. The better of two votes has the later epoch, or else the later zxid, or
// else the higher number.
type vote struct {
	leader      string
	id          int
	epoch, zxid int64
}

type (
	// notification is a vote, with its round and what the member that sends it does.
	notification struct {
		vote     vote
		round    int
		activity activity
	}
	// followerInfo is a follower's first message to its leader: the epoch that it has
	// promised to follow.
	followerInfo struct{ accepted int64 }
	// leaderInfo is the new epoch. A member that answers it follows no leader of an older
	// one.
	leaderInfo struct{ epoch int64 }
	epochAck   struct{ current, zxid int64 }
	// newLeader is all that the follower lacks. The follower must remove everything after
	// since from its log.
	newLeader struct {
		epoch, since int64
		txns         []*txn
	}
	newLeaderAck struct{ zxid int64 }
	// upToDate allows the follower to serve; everything up to zxid is committed.
	upToDate struct{ zxid int64 }

	proposal struct{ txn *txn }
	ack      struct{ zxid int64 }
	commit   struct{ zxid int64 }

	// forward is a client's request that the leader has to decide.
	forward struct {
		q      *request
		r      *sim.Request
		who    []ident
		serial int
	}
	synced struct{ serial int }
	// revalidate asks whether the session is alive whose client has connected to the
	// follower.
	revalidate struct {
		session int64
		timeout int32
		serial  int
	}
	revalidated struct {
		serial int
		lives  bool
	}

	ping struct{}
	// pong is the answer to a ping: the sessions that have been alive at the follower since
	// the last one.
	pong struct{ touched []int64 }
)

func (n notification) describe(*sim.Names) string {
	return fmt.Sprintf("round %d: %s is for %s", n.round, n.activity, n.vote.leader)
}
func (f followerInfo) describe(*sim.Names) string { return "follower info" }
func (l leaderInfo) describe(*sim.Names) string   { return fmt.Sprintf("epoch %d", l.epoch) }
func (a epochAck) describe(*sim.Names) string     { return "epoch ack" }
func (n newLeader) describe(*sim.Names) string {
	return fmt.Sprintf("new leader of epoch %d, with %d changes", n.epoch, len(n.txns))
}
func (a newLeaderAck) describe(*sim.Names) string   { return "new leader ack" }
func (u upToDate) describe(*sim.Names) string       { return "up to date" }
func (p proposal) describe(names *sim.Names) string { return "proposal " + p.txn.describe(names) }
func (a ack) describe(*sim.Names) string            { return fmt.Sprintf("ack 0x%x", a.zxid) }
func (c commit) describe(*sim.Names) string         { return fmt.Sprintf("commit 0x%x", c.zxid) }
func (f forward) describe(names *sim.Names) string  { return "forward " + f.q.describe(names) }
func (s synced) describe(*sim.Names) string         { return "synced" }
func (r revalidate) describe(names *sim.Names) string {
	return "revalidate " + sessionName(names, r.session)
}
func (r revalidated) describe(*sim.Names) string {
	if r.lives {
		return "it lives"
	}
	return "it does not live"
}
func (ping) describe(*sim.Names) string   { return "ping" }
func (p pong) describe(*sim.Names) string { return fmt.Sprintf("%d sessions live", len(p.touched)) }

// describe describes a transaction for the trace.
func (x *txn) describe(names *sim.Names) string {
	what := x.op.String()
	switch {
	case x.code != ok:
		what = x.code.String()
	case x.op == opOpen:
		what = "open " + sessionName(names, x.session)
	case x.op == opClose:
		what = "close " + sessionName(names, x.session)
	case x.path != "":
		what += " " + describePath(names, x.path)
	}
	return fmt.Sprintf("0x%x: %s", x.zxid, what)
}

// sendMessage sends a message to another member.
func (m *member) sendMessage(end *sim.End, msg message) {
	m.out.Send(func() { end.Send(sim.Packet{Body: msg, Text: msg.describe(m.host.Names())}) })
}
