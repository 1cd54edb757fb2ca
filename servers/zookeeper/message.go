package zookeeper

import (
	"fmt"

	"github.com/locksim/locksim/sim"
)

// A message is what one member sends to another. describe returns its text for the trace.
type message interface{ describe(*sim.Names) string }

// A vote names a member that should become the leader. epoch, zxid and id are those of the named
// member: the epoch (the number of a leader's reign) in which it last worked, the number of its
// last transaction, and its own number. The better of two votes has the later epoch; if they are
// equal, the later zxid; if these are equal too, the higher number.
type vote struct {
	leader      string
	id          int
	epoch, zxid int64
}

type (
	// A notification is a member's vote, the round of the election to which it belongs, and
	// what the member is doing.
	notification struct {
		vote     vote
		round    int
		activity activity
	}
	// followerInfo is a follower's first message to its leader. accepted is the latest
	// epoch that the follower has promised to follow.
	followerInfo struct{ accepted int64 }
	// leaderInfo is the leader's new epoch. A follower that answers it promises to follow
	// no leader of an older epoch.
	leaderInfo struct{ epoch int64 }
	// epochAck is the answer to leaderInfo: the epoch in which the follower last worked, and its
	// last transaction.
	epochAck struct{ current, zxid int64 }
	// newLeader has the transactions that the follower lacks. The follower must first
	// remove from its log what is later than the zxid since.
	newLeader struct {
		epoch, since int64
		txns         []*txn
	}
	// newLeaderAck says that the follower has those transactions on its disk, up to zxid.
	newLeaderAck struct{ zxid int64 }
	// upToDate allows the follower to serve clients. Everything up to zxid is committed.
	upToDate struct{ zxid int64 }

	// A proposal is a transaction that the leader has decided, an ack says that a follower
	// has it on its disk, and a commit says that a majority has it.
	proposal struct{ txn *txn }
	ack      struct{ zxid int64 }
	commit   struct{ zxid int64 }

	// A forward is a request that a follower passes on to the leader: q is the request of
	// the message r, from a client with the identities who. serial is the follower's number
	// for it.
	forward struct {
		q      *request
		r      *sim.Request
		who    []ident
		serial int
	}
	// synced answers a forwarded sync, by its serial.
	synced struct{ serial int }
	// revalidate asks the leader whether a session is alive: its client has reconnected, to
	// this follower. revalidated is the answer.
	revalidate struct {
		session int64
		timeout int32
		serial  int
	}
	revalidated struct {
		serial  int
		isAlive bool
	}

	// A ping is the leader's sign of life.
	ping struct{}
	// pong is a follower's answer to a ping. touched are the sessions that have given the
	// follower a sign of life since the last pong.
	pong struct{ touched []int64 }
)

// The describe methods implement message.
func (n notification) describe(*sim.Names) string {
	return fmt.Sprintf("round %d: %s, votes for %s", n.round, n.activity, n.vote.leader)
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
	if r.isAlive {
		return "the session is alive"
	}
	return "the session is not alive"
}
func (ping) describe(*sim.Names) string { return "ping" }
func (p pong) describe(*sim.Names) string {
	return fmt.Sprintf("%d sessions are alive", len(p.touched))
}

// describe returns the text of a transaction for the trace.
func (x *txn) describe(names *sim.Names) string {
	text := x.op.String()
	switch {
	case x.code != ok:
		text = x.code.String()
	case x.op == opOpen:
		text = "open " + sessionName(names, x.session)
	case x.op == opClose:
		text = "close " + sessionName(names, x.session)
	case x.path != "":
		text += " " + describePath(names, x.path)
	}
	return fmt.Sprintf("0x%x: %s", x.zxid, text)
}

// sendMessage sends a message to another member, at the end of the turn (see [member.turn]).
func (m *member) sendMessage(end *sim.End, msg message) {
	m.out.Send(func() { end.Send(sim.Packet{Body: msg, Text: msg.describe(m.host.Names())}) })
}
