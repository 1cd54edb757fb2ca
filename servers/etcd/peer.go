package etcd

import (
	"fmt"
	"time"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/sim"
)

// A peer is another member, as this member sees it, with the connection over which this
// member sends it messages. The peer's own messages arrive over a connection that the peer
// has opened.
type peer struct {
	m    *member
	name string
	id   uint64
	end  *sim.End // nil if there is no connection
	// connectedAt is when the connection was made.
	connectedAt fakeclock.Reading
	// isDialling: a connection is being made.
	isDialling bool
	// hasRefused: an attempt to connect has failed, less than dialAgain ago.
	hasRefused bool
	queue      []sim.Packet // messages that are sent when the member finishes its current input
	// acknowledged is the log position up to which this member last acknowledged entries to
	// the peer.
	acknowledged logPosition
}

// logPosition is a position in the log: the term and the index of an entry.
type logPosition struct{ term, index uint64 }

const (
	// dialAgain is how long a member waits after a failed attempt to connect to another
	// member.
	dialAgain = 500 * time.Millisecond
	// mostQueued is how many messages can wait for a connection. More are dropped, because
	// raft repeats what matters.
	mostQueued = 64
	// readTimeout is how long a member waits for a message on a connection. It then closes
	// the connection, and all messages in flight on it are lost. See DefaultConnReadTimeout
	// in server/etcdserver/api/rafthttp.
	readTimeout = 5 * time.Second
)

// A letter is a message from one member to another, with the time at which it was sent.
// That time is read from the receiver's clock, because no time passes for a receiver that
// is suspended with its machine.
type letter struct {
	sent fakeclock.Reading
	body any
}

// send queues a message for the peer. The message is sent when the member finishes its current
// input. Messages without a connection may be dropped.
func (p *peer) send(packet sim.Packet) {
	if p.end != nil || len(p.queue) == 0 || len(p.queue) < mostQueued && !packet.Background {
		p.queue = append(p.queue, packet)
	}
}

// hasForgotten reports whether the peer no longer knows the connection, because it has restarted
// since the connection was made. Usually a reset of the connection shows that to this member. In
// case the reset is lost, hasForgotten returns true from a second after the restart on.
func (p *peer) hasForgotten() bool {
	other := p.m.cluster.member(p.id)
	return other.node != nil && other.startedAt > p.m.host.Now()-p.m.now().Sub(p.connectedAt) && p.m.host.Now()-other.startedAt > time.Second
}

// flush sends the queued messages. If there is no connection, it first makes one.
func (p *peer) flush() {
	if p.end != nil && p.hasForgotten() {
		p.end.Close()
		p.end = nil
	}
	switch {
	case len(p.queue) == 0 || p.isDialling:
	case p.end != nil:
		// Before the run begins messages arrive immediately, so the peer may queue replies
		// during this loop.
		for p.end != nil && len(p.queue) > 0 {
			first := p.queue[0]
			p.queue = p.queue[1:]
			first.Body = letter{p.m.cluster.member(p.id).now(), first.Body}
			p.end.Send(first)
		}
	case p.hasRefused:
		p.disconnected()
	default:
		p.dial()
	}
}

// dial connects to the peer, and then sends the queued messages.
func (p *peer) dial() {
	m, life := p.m, p.m.life
	p.isDialling = true
	m.host.Connect(p.name, dialledEnd{p, life}, func(end *sim.End, err error) {
		switch {
		case life != m.life:
		case err != nil:
			p.hasRefused = true
			m.after(dialAgain, func() { p.hasRefused = false })
			p.disconnected()
		default:
			p.isDialling, p.end, p.connectedAt = false, end, m.now()
			p.flush()
		}
	})
}

// disconnected discards the queue, because there is no connection. Raft repeats what
// matters.
func (p *peer) disconnected() {
	p.end, p.isDialling, p.queue, p.acknowledged = nil, false, nil, logPosition{}
	p.m.questions.scheduleRetry(p.m)
}

// dialledEnd is the member's end of a connection that it opened itself. life is the
// member's life at that time: after a crash the connection no longer concerns it.
type dialledEnd struct {
	p    *peer
	life int
}

// Receive implements [sim.Endpoint]. It is never called, because the peer sends nothing
// over this connection.
func (d dialledEnd) Receive(*sim.Request) {}

// HangUp implements [sim.Endpoint].
func (d dialledEnd) HangUp(bool) {
	if d.life == d.p.m.life {
		d.p.disconnected()
	}
}

// acceptedEnd is the member's end of a connection that another member has opened.
type acceptedEnd struct {
	m      *member
	from   *peer
	end    *sim.End
	closed bool
}

// Receive implements [sim.Endpoint].
func (a *acceptedEnd) Receive(r *sim.Request) {
	l := r.Body.(letter)
	if isLate := a.m.now().Sub(l.sent) > readTimeout; isLate && !a.closed {
		// The member has received nothing for readTimeout, and so has closed the
		// connection.
		a.closed = true
		a.end.Close()
	}
	if a.closed {
		return
	}
	switch body := l.body.(type) {
	case *raftpb.Message:
		a.m.receiveRaft(body)
	case leaseQuestion:
		a.m.answerQuestion(body, func(answer leaseAnswer) { a.from.send(sim.Packet{Body: answer, Text: answer.String()}) })
	case leaseAnswer:
		a.m.questions.receiveAnswer(a.m, body)
	}
	a.m.finishInput()
}

// HangUp implements [sim.Endpoint]. It does nothing, because the peer makes a new
// connection when it needs one.
func (a *acceptedEnd) HangUp(bool) {}

// sendToPeer sends a raft message to the member to which it is addressed.
func (m *member) sendToPeer(msg *raftpb.Message) {
	if p := m.peers[msg.GetTo()]; p != nil {
		p.send(sim.Packet{Body: msg, Text: m.describeMessage(msg), Background: p.isRedundant(msg)})
	}
}

// isRedundant reports whether a raft message contains nothing new and only shows that its
// sender is alive. For an acknowledgement it also records what was acknowledged.
func (p *peer) isRedundant(msg *raftpb.Message) bool {
	switch msg.GetType() {
	case raftpb.MsgHeartbeat, raftpb.MsgHeartbeatResp:
		return len(msg.GetContext()) == 0
	case raftpb.MsgAppResp:
		position := logPosition{msg.GetTerm(), msg.GetIndex()}
		isKnown := p.acknowledged == position && !msg.GetReject()
		p.acknowledged = position
		return isKnown
	}
	return false
}

// describeMessage returns the text by which the trace shows a raft message.
func (m *member) describeMessage(msg *raftpb.Message) string {
	term := msg.GetTerm()
	switch msg.GetType() {
	case raftpb.MsgApp:
		if n := len(msg.GetEntries()); n > 0 {
			return fmt.Sprintf("append %s", m.describeEntries(msg))
		}
		return fmt.Sprintf("commit up to entry %d", msg.GetCommit())
	case raftpb.MsgAppResp:
		if msg.GetReject() {
			return fmt.Sprintf("entry %d does not match", msg.GetIndex())
		}
		return fmt.Sprintf("appended up to entry %d", msg.GetIndex())
	case raftpb.MsgVote:
		return fmt.Sprintf("vote for me in term %d", term)
	case raftpb.MsgPreVote:
		return fmt.Sprintf("would you vote for me in term %d", term)
	case raftpb.MsgVoteResp, raftpb.MsgPreVoteResp:
		if msg.GetReject() {
			return fmt.Sprintf("no, in term %d", term)
		}
		return fmt.Sprintf("yes, in term %d", term)
	case raftpb.MsgHeartbeat:
		if len(msg.GetContext()) > 0 {
			return "confirm that I still lead, for a read"
		}
		return "heartbeat"
	case raftpb.MsgHeartbeatResp:
		if len(msg.GetContext()) > 0 {
			return "confirmed, for a read"
		}
		return "heartbeat received"
	case raftpb.MsgProp:
		return "propose " + m.describeEntries(msg)
	case raftpb.MsgReadIndex:
		return "ask for the last committed entry, for a read"
	case raftpb.MsgReadIndexResp:
		return fmt.Sprintf("the last committed entry is %d", msg.GetIndex())
	}
	return msg.GetType().String()
}

// describeEntries returns the text for the log entries in a raft message.
func (m *member) describeEntries(msg *raftpb.Message) string {
	entries := msg.GetEntries()
	if len(entries) > 1 {
		return fmt.Sprintf("%d entries up to %d", len(entries), entries[len(entries)-1].GetIndex())
	}
	text := m.cluster.describeEntry(m.host.Names(), entries[0])
	if i := entries[0].GetIndex(); i > 0 {
		return fmt.Sprintf("entry %d: %s", i, text)
	}
	return text
}
