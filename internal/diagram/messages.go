package diagram

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// A message is one message as it is drawn, from its sending to its end.
type message struct {
	source   *history.Message
	from, to string
	client   string // the client that sent this request or gets this reply; "" between servers
	reply    bool
	// sent and ended are the times of its sending and its end.
	sent    time.Duration
	ended   time.Duration
	isLost  bool // it never arrived
	isHeld  bool
	section int
	// sentSeq and endSeq are the Seqs of the events with which it was sent and ended.
	sentSeq, endSeq int
}

// weight returns the importance of a message. The most important messages were lost, held or
// delayed. Next are messages to and from the storage and its services, and then messages of the
// acquisitions that were granted.
func (d *diagram) weight(m message, granted map[history.Acquisition]bool) int {
	isStorage := func(p string) bool { return d.roles[p] == trace.RoleStorage || d.roles[p] == trace.RoleService }
	switch {
	case m.isLost || m.isHeld || m.ended-m.sent >= story.Silence:
		return 3
	case isStorage(m.from) || isStorage(m.to):
		return 2
	case granted[history.Acquisition{Client: m.client, Section: m.section}]:
		return 1
	}
	return 0
}

// readMessages finds the messages, and how each of them ended. It leaves out messages that
// only set up a connection.
func (d *diagram) readMessages(limit int, repeats []eventRange) {
	var all []message
	for _, m := range d.history.Messages() {
		if !m.Sent.Handshake {
			all = append(all, d.newMessage(m))
		}
	}
	d.keepMessages(all, limit, repeats)
}

// newMessage returns a message as it is drawn. A message that has not ended is drawn until
// the end of the run.
func (d *diagram) newMessage(m *history.Message) message {
	result := message{
		source: m,
		from:   m.From, to: m.To, reply: m.Sent.Reply, sent: m.Sent.At, ended: d.end(), isLost: m.Arrived == nil, isHeld: m.Held != nil,
		section: m.Sent.Section, sentSeq: m.Sent.Seq, endSeq: m.Sent.Seq,
	}
	switch {
	case m.Arrived != nil:
		result.ended, result.endSeq = m.Arrived.At, m.Arrived.Seq
	case m.Lost != nil:
		result.endSeq = m.Lost.Seq
	}
	result.client = d.clientOf(result)
	return result
}

// clientOf returns the client that sent a request or gets a reply; "" if the message is
// between servers.
func (d *diagram) clientOf(m message) string {
	client := m.from
	if m.reply {
		client = m.to
	}
	if d.roles[client] != trace.RoleClient {
		return ""
	}
	return client
}

// keepMessages keeps the messages for which there is room. repeats are the ranges of events
// that only repeat what happened before.
func (d *diagram) keepMessages(all []message, limit int, repeats []eventRange) {
	granted := map[history.Acquisition]bool{}
	for _, s := range d.sections {
		granted[s.Acquisition] = true
	}
	unrepeated := slices.DeleteFunc(slices.Clone(all), func(m message) bool {
		return !d.hasLane(m.from) || !d.hasLane(m.to) || inAnyRange(m.sentSeq, repeats)
	})
	kept := keepHeaviest(d.focus, unrepeated, limit, func(m message) int { return d.weight(m, granted) }, func(m message) int { return m.sentSeq })
	d.noteOmitted(len(unrepeated)-len(kept), len(all)-len(unrepeated), "a message", "messages")
	d.messages = kept
	for _, m := range kept {
		d.addMoments(m.sent)
		if !m.isLost {
			d.addMoments(m.ended)
		}
	}
}
