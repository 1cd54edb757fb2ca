package reports

import (
	"fmt"

	"github.com/locksim/locksim/trace"
)

// messageEvent tells what the network did. A message that went its way is told
// only when all messages are asked for.
func (s *teller) messageEvent(ev *trace.Event) {
	id := messageID(ev)
	waiting := s.awaiting(ev)
	switch ev.Kind {
	case trace.KindHold:
		s.held[id] = ev.At
		s.add(entry{at: ev.At, who: "network", mood: fault, part: effect, text: "holds back " + s.message(ev, ev.Process, ev.Peer)})
		return
	case trace.KindDeliver:
		if from, ok := s.held[id]; ok {
			delete(s.held, id)
			s.add(entry{at: ev.At, who: "network", mood: fault, part: effect,
				text: fmt.Sprintf("delivers %s %s", s.message(ev, ev.Peer, ev.Process), heldFor(from, ev.At))})
			return
		}
	case trace.KindLose:
		text := "loses " + s.message(ev, ev.Process, ev.Peer)
		if s.messages {
			s.add(entry{at: ev.At, who: "network", mood: fault, text: text})
			return
		}
		s.apart(ev, "lose", func(peers []string) string {
			return fmt.Sprintf("never delivers what %s has sent to %s", visible(ev.Process), s.peerCount(peers))
		})
		return
	case trace.KindRefuse:
		s.apart(ev, "refuse", func(peers []string) string {
			return fmt.Sprintf("cannot connect to %s%s", s.peerCount(peers), because(ev.Text))
		})
		return
	case trace.KindTimeout:
		if !waiting {
			break // a connection that lay idle is no story
		}
		s.apart(ev, "timeout", func(peers []string) string {
			return fmt.Sprintf("gives up waiting for %s", s.peerCount(peers))
		})
		return
	case trace.KindReset:
		s.apart(ev, "reset", func(peers []string) string {
			return fmt.Sprintf("sees its connection to %s reset", s.peerCount(peers))
		})
		return
	}
	if s.messages && !ev.Handshake {
		s.traffic(ev)
	}
}

// awaiting keeps account of the requests that have no reply yet, and reports
// whether there is one on the event's connection.
func (s *teller) awaiting(ev *trace.Event) bool {
	conn := fmt.Sprintf("%s\x00%s\x00%d", ev.Process, ev.Peer, ev.Conn)
	switch {
	case ev.Kind == trace.KindSend && !ev.Reply:
		s.waiting[conn]++
	case ev.Kind == trace.KindDeliver && ev.Reply:
		s.waiting[conn]--
	}
	return s.waiting[conn] > 0
}

// apart adds an entry about a process and one of its peers that is told once
// for all its peers.
func (s *teller) apart(ev *trace.Event, what string, merge func(peers []string) string) {
	e := entry{at: ev.At, who: visible(ev.Process), fold: what + " " + ev.Process + because(ev.Text), items: []string{ev.Peer}}
	if what == "lose" {
		e.who, e.fold = "network", what+" "+ev.Process
	}
	s.add(s.folded(e, merge))
}

// peerCount lists each peer once, and how often if more than once.
func (s *teller) peerCount(peers []string) string {
	var shown []string
	for _, p := range s.ordered(peers) {
		n := 0
		for _, q := range peers {
			if p == q {
				n++
			}
		}
		p = visible(p)
		if n > 1 {
			p = fmt.Sprintf("%s (%d times)", p, n)
		}
		shown = append(shown, p)
	}
	return list(shown)
}

// traffic tells of messages and connections one by one.
func (s *teller) traffic(ev *trace.Event) {
	peer := visible(ev.Peer)
	switch ev.Kind {
	case trace.KindConnect:
		s.say(ev, faint, "connects to %s", peer)
	case trace.KindSend:
		s.say(ev, faint, "→ %s  %s", peer, visible(ev.Text))
	case trace.KindDeliver:
		s.say(ev, faint, "← %s  %s", peer, visible(ev.Text))
	case trace.KindClose:
		s.say(ev, faint, "closes its connection to %s", peer)
	}
}

// message names a message: "client-1's write request to storage".
func (s *teller) message(ev *trace.Event, from, to string) string {
	if ev.Reply {
		return fmt.Sprintf("%s reply to %s", possessive(from), s.askedBy(ev, to))
	}
	step := ""
	if ev.Step != "" {
		step = string(ev.Step) + " "
	}
	return fmt.Sprintf("%s %srequest to %s", possessive(from), step, visible(to))
}

func (s *teller) askedBy(ev *trace.Event, client string) string {
	if ev.Step == "" {
		return visible(client)
	}
	return fmt.Sprintf("%s %s", possessive(client), ev.Step)
}

// messageID identifies a message from its sending to its delivery.
func messageID(ev *trace.Event) string {
	from, to := ev.Process, ev.Peer
	if ev.Kind == trace.KindDeliver {
		from, to = to, from
	}
	return fmt.Sprintf("%s\x00%s\x00%d\x00%d", from, to, ev.Conn, ev.Msg)
}
