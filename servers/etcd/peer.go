package etcd

import (
	"fmt"
	"time"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/sim"
)

// A peer is another member, and the connection over which this one tells it things. What the
// other has to say comes over one that it has opened itself.
type peer struct {
	m    *member
	name string
	id   uint64
	end  *sim.End // nil: there is no connection
	// since is when it was made.
	since fakeclock.Reading
	// dialling: there will be one.
	dialling bool
	// refused: there was none to be had, a while ago.
	refused bool
	queue   []sim.Packet
	// has is how far the member has told it that its log goes.
	has appended
}

// appended is an entry of a log that one has told another of.
type appended struct{ term, index uint64 }

const (
	// dialAgain is how long a member waits that could not connect to another.
	dialAgain = 500 * time.Millisecond
	// mostQueued bounds what waits for a connection: raft says again what matters.
	mostQueued = 64
	// readTimeout is how long a member waits for a word on a connection before it gives it
	// up, with all that is still to come on it: DefaultConnReadTimeout in
	// server/etcdserver/api/rafthttp.
	readTimeout = 5 * time.Second
)

// A letter is what one member tells another, and when it did, by the clock of the other:
// for one that stands still with its machine no time passes.
type letter struct {
	sent fakeclock.Reading
	body any
}

// send has the peer told something, at the end of the moment.
func (p *peer) send(packet sim.Packet) {
	if p.end != nil || len(p.queue) == 0 || len(p.queue) < mostQueued && !packet.Background {
		p.queue = append(p.queue, packet)
	}
}

// forgotten says that the peer has restarted since, more than a second ago, and still nothing
// has reset the connection, of which it knows nothing. What should have may be lost.
func (p *peer) forgotten() bool {
	to := p.m.cluster.member(p.id)
	return to.node != nil && to.started > p.m.host.Now()-p.m.now().Sub(p.since) && p.m.host.Now()-to.started > time.Second
}

// flush tells the peer what there is to tell it.
func (p *peer) flush() {
	if p.end != nil && p.forgotten() {
		p.end.Close()
		p.end = nil
	}
	switch {
	case len(p.queue) == 0 || p.dialling:
	case p.end != nil:
		// Before the story begins it arrives at once, and what comes of that is told here.
		for p.end != nil && len(p.queue) > 0 {
			first := p.queue[0]
			p.queue = p.queue[1:]
			first.Body = letter{p.m.cluster.member(p.id).now(), first.Body}
			p.end.Send(first)
		}
	case p.refused:
		p.lost()
	default:
		p.dial()
	}
}

func (p *peer) dial() {
	m, life := p.m, p.m.life
	p.dialling = true
	m.host.Connect(p.name, dialled{p, life}, func(end *sim.End, err error) {
		switch {
		case life != m.life:
		case err != nil:
			p.refused = true
			m.after(dialAgain, func() { p.refused = false })
			p.lost()
		default:
			p.dialling, p.end, p.since = false, end, m.now()
			p.flush()
		}
	})
}

// lost says that there is no connection, and what was to be told is lost: raft says again
// what matters, in time.
func (p *peer) lost() {
	p.end, p.dialling, p.queue, p.has = nil, false, nil, appended{}
	p.m.questions.lost(p.m)
}

// dialled is the member's end of a connection that it has opened, in one of its lives.
type dialled struct {
	p    *peer
	life int
}

// Receive is as in [sim.Endpoint]; nothing comes this way.
func (d dialled) Receive(*sim.Request) {}

// HangUp is as in [sim.Endpoint].
func (d dialled) HangUp(bool) {
	if d.life == d.p.m.life {
		d.p.lost()
	}
}

// accepted is the member's end of a connection that another has opened.
type accepted struct {
	m    *member
	from *peer
	end  *sim.End
	over bool
}

// Receive is as in [sim.Endpoint].
func (a *accepted) Receive(r *sim.Request) {
	l := r.Body.(letter)
	if late := a.m.now().Sub(l.sent) > readTimeout; late && !a.over {
		// It has not heard anything for as long, and has hung up.
		a.over = true
		a.end.Close()
	}
	if a.over {
		return
	}
	switch body := l.body.(type) {
	case *raftpb.Message:
		a.m.hear(body)
	case asking:
		a.m.consider(body, func(answer asked) { a.from.send(sim.Packet{Body: answer, Text: answer.String()}) })
	case asked:
		a.m.questions.answered(a.m, body)
	}
	a.m.settle()
}

// HangUp is as in [sim.Endpoint].
func (a *accepted) HangUp(bool) {}

// tell tells another member what raft wants it to know.
func (m *member) tell(msg *raftpb.Message) {
	if p := m.peers[msg.GetTo()]; p != nil {
		p.send(sim.Packet{Body: msg, Text: m.tellMessage(msg), Background: p.knows(msg)})
	}
}

// knows says that a message tells nothing new, but that somebody is there.
func (p *peer) knows(msg *raftpb.Message) bool {
	switch msg.GetType() {
	case raftpb.MsgHeartbeat, raftpb.MsgHeartbeatResp:
		return len(msg.GetContext()) == 0
	case raftpb.MsgAppResp:
		has := appended{msg.GetTerm(), msg.GetIndex()}
		known := p.has == has && !msg.GetReject()
		p.has = has
		return known
	}
	return false
}

// tellMessage is a message of raft's for people.
func (m *member) tellMessage(msg *raftpb.Message) string {
	term := msg.GetTerm()
	switch msg.GetType() {
	case raftpb.MsgApp:
		if n := len(msg.GetEntries()); n > 0 {
			return fmt.Sprintf("append %s", m.tellEntries(msg))
		}
		return fmt.Sprintf("commit up to entry %d", msg.GetCommit())
	case raftpb.MsgAppResp:
		if msg.GetReject() {
			return fmt.Sprintf("no entry %d", msg.GetIndex())
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
			return "do I still lead, for a read"
		}
		return "heartbeat"
	case raftpb.MsgHeartbeatResp:
		if len(msg.GetContext()) > 0 {
			return "you do, for a read"
		}
		return "heartbeat heard"
	case raftpb.MsgProp:
		return "propose " + m.tellEntries(msg)
	case raftpb.MsgReadIndex:
		return "how far is the log, for a read"
	case raftpb.MsgReadIndexResp:
		return fmt.Sprintf("the log is at entry %d", msg.GetIndex())
	}
	return msg.GetType().String()
}

func (m *member) tellEntries(msg *raftpb.Message) string {
	entries := msg.GetEntries()
	if len(entries) > 1 {
		return fmt.Sprintf("%d entries up to %d", len(entries), entries[len(entries)-1].GetIndex())
	}
	what := m.cluster.tellEntry(m.host.Names(), entries[0])
	if i := entries[0].GetIndex(); i > 0 {
		return fmt.Sprintf("entry %d: %s", i, what)
	}
	return what
}
