package reports

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/trace"
)

// A message is one message from its sending to its end.
type message struct {
	from, to string
	client   string // whose request it is, or whose is answered; "" between servers
	reply    bool
	sent     time.Duration
	ended    time.Duration
	lost     bool // it never arrived
	held     bool
	section  int
	text     string
	// first and last are the Seqs of its sending and its end.
	first, last int
}

func (m message) words() string {
	words := fmt.Sprintf("%s → %s: %s", visible(m.from), visible(m.to), visible(clipped(m.text, 160)))
	if m.lost {
		return fmt.Sprintf("%s (sent %s, never arrives)", words, moment(m.sent, 3))
	}
	words = fmt.Sprintf("%s (%s to %s", words, moment(m.sent, 6), moment(m.ended, 6))
	if m.held {
		words += ", held back"
	}
	return words + ")"
}

// clipped cuts a text after a number of characters.
func clipped(s string, most int) string {
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

// weight says how much is lost with a message: what a fault did to it, and what
// concerns the data, matters most; then the calls of the lock that came to
// something.
func (d *diagram) weight(m message, granted map[actor]bool) int {
	protected := func(p string) bool { return d.roles[p] == trace.RoleStorage || d.roles[p] == trace.RoleService }
	switch {
	case m.lost || m.held || m.ended-m.sent >= silence:
		return 3
	case protected(m.from) || protected(m.to):
		return 2
	case granted[actor{m.client, m.section}]:
		return 1
	}
	return 0
}

// readMessages pairs what was sent with what arrived. What only sets a connection
// up is left out.
func (d *diagram) readMessages(most int, again []stretch) {
	flying := map[string]*message{}
	var all []*message
	for i := range d.trace.Events {
		ev := &d.trace.Events[i]
		if ev.Handshake {
			continue
		}
		id := messageID(ev)
		switch ev.Kind {
		case trace.KindSend:
			m := &message{
				from: ev.Process, to: ev.Peer, reply: ev.Reply, sent: ev.At, ended: d.trace.End(), lost: true,
				section: ev.Section, text: ev.Text, first: ev.Seq, last: ev.Seq,
			}
			m.client = d.clientOf(m)
			flying[id] = m
			all = append(all, m)
		case trace.KindHold:
			if m := flying[id]; m != nil {
				m.held = true
			}
		case trace.KindDeliver:
			if m := flying[id]; m != nil {
				m.ended, m.last, m.lost = ev.At, ev.Seq, false
				delete(flying, id)
			}
		case trace.KindLose:
			if m := flying[id]; m != nil {
				m.last = ev.Seq
				delete(flying, id)
			}
		}
	}
	d.keepMessages(all, most, again)
}

// clientOf is the client of a message.
func (d *diagram) clientOf(m *message) string {
	client := m.from
	if m.reply {
		client = m.to
	}
	if d.roles[client] != trace.RoleClient {
		return ""
	}
	return client
}

// keepMessages keeps those that there is room for.
func (d *diagram) keepMessages(all []*message, most int, again []stretch) {
	granted := map[actor]bool{}
	for _, s := range d.sections {
		granted[actor{s.Client, s.Section}] = true
	}
	once := slices.DeleteFunc(slices.Clone(all), func(m *message) bool {
		return !d.drawn(m.from) || !d.drawn(m.to) || within(m.first, again)
	})
	kept := keep(d, once, most, func(m *message) int { return d.weight(*m, granted) }, func(m *message) int { return m.first })
	d.omit(len(once)-len(kept), len(all)-len(once), "a message", "messages")
	for _, m := range kept {
		d.messages = append(d.messages, *m)
		d.see(m.sent)
		if !m.lost {
			d.see(m.ended)
		}
	}
}
