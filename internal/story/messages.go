package story

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// addMessages describes what the network did to messages. It describes messages that were
// delivered normally only if s.messages is set.
func (s *clauseBuilder) addMessages() {
	heldByFault := map[*history.Message]int{} // the number of the fault that held a message back
	for _, a := range s.Acts() {
		if m := s.MessageHeldBy(a); m != nil {
			heldByFault[m] = a.Fault
		}
	}
	for _, m := range s.Messages() {
		shown := s.messages && !m.Sent.Handshake
		if shown {
			s.addText(m.Sent, DetailMood, "→ %s  %s", m.To, m.Sent.Text)
		}
		if m.Held != nil {
			s.addNetwork(m.Held, FaultActs, heldByFault[m], "holds back %s", s.nameMessage(m))
		}
		switch {
		case m.Arrived != nil && m.Held != nil:
			s.addNetwork(m.Arrived, FaultActs, heldByFault[m], "delivers %s %s", s.nameMessage(m), heldFor(m.Held.At, m.Arrived.At))
		case m.Arrived != nil && shown:
			s.addText(m.Arrived, DetailMood, "← %s  %s", m.From, m.Arrived.Text)
		}
		switch {
		case m.Lost == nil:
		case s.messages:
			s.addNetwork(m.Lost, WholeStep, 0, "loses %s", s.nameMessage(m))
		default:
			s.addLoss(m)
		}
	}
}

// addLoss adds a clause about a message that will never arrive. The clause gives the cause if the
// receiver had closed the connection. Any other cause, such as a fault, has a clause of its own.
func (s *clauseBuilder) addLoss(m *history.Message) {
	wasClosed := slices.ContainsFunc(s.ConnectionEvents(), func(c history.ConnectionEvent) bool {
		ev := c.Event
		return ev.Kind == trace.KindClose && ev.Process == m.To && ev.Peer == m.From && ev.Conn == m.Sent.Conn && ev.Seq < m.Lost.Seq
	})
	key := "lose " + m.From
	if wasClosed {
		key = "lose on a closed connection " + m.From
	}
	s.addMergeable(m.Lost, Clause{Subject: "network", mergeKey: key, items: []string{m.To}}, func(peers []string) string {
		text := fmt.Sprintf("loses messages in flight from %s to %s", m.From, s.countPeers(peers))
		switch {
		case wasClosed && len(peers) == 1:
			text += ", which had closed the connection"
		case wasClosed:
			text += ", which had closed the connections"
		}
		return text
	})
}

// addNetwork adds a clause about what a fault made the network do. fault is its number, or
// 0 if that is not known.
func (s *clauseBuilder) addNetwork(ev *trace.Event, p Part, fault int, format string, args ...any) {
	s.add(ev, Clause{Subject: "network", Mood: FaultMood, Part: p, fault: fault, Predicate: Raw(fmt.Sprintf(format, args...))})
}

// addConnections describes what happened to connections. It describes opening and closing only if
// s.messages is set.
func (s *clauseBuilder) addConnections() {
	for _, c := range s.ConnectionEvents() {
		ev := c.Event
		switch ev.Kind {
		case trace.KindRefuse:
			s.addPeerClause(ev, func(peers string) string { return fmt.Sprintf("cannot connect to %s%s", peers, reasonSuffix(ev.Text)) })
		case trace.KindTimeout:
			if c.AwaitsReply { // the timeout of an idle connection needs no clause
				s.addPeerClause(ev, func(peers string) string { return "gives up waiting for " + peers })
			}
		case trace.KindReset:
			s.addPeerClause(ev, func(peers string) string { return fmt.Sprintf("sees its connection to %s reset", peers) })
		case trace.KindConnect:
			if s.messages && !ev.Handshake {
				s.addText(ev, DetailMood, "connects to %s", ev.Peer)
			}
		case trace.KindClose:
			if s.messages && !ev.Handshake {
				s.addText(ev, DetailMood, "closes its connection to %s", ev.Peer)
			}
		}
	}
}

// addPeerClause adds a clause about a process and one of its peers. The clause is merged with its
// neighbours if the same happens with several peers.
func (s *clauseBuilder) addPeerClause(ev *trace.Event, merge func(peers string) string) {
	clause := Clause{Subject: Raw(ev.Process), mergeKey: string(ev.Kind) + " " + ev.Process + reasonSuffix(ev.Text), items: []string{ev.Peer}}
	s.addMergeable(ev, clause, func(peers []string) string { return merge(s.countPeers(peers)) })
}

// countPeers lists each peer once, and says how often it occurs if that is more than once.
func (s *clauseBuilder) countPeers(peers []string) string {
	var shown []string
	for _, p := range s.InWorldOrder(peers) {
		n := 0
		for _, q := range peers {
			if p == q {
				n++
			}
		}
		if n > 1 {
			p = fmt.Sprintf("%s (%d times)", p, n)
		}
		shown = append(shown, p)
	}
	return List(shown)
}

// nameMessage names a message: "client-1's write request to storage".
func (s *clauseBuilder) nameMessage(m *history.Message) string {
	step := ""
	if m.Sent.Step != "" {
		step = string(m.Sent.Step) + " "
	}
	switch {
	case !m.Sent.Reply:
		return fmt.Sprintf("%s %srequest to %s", Possessive(m.From), step, m.To)
	case step == "":
		return fmt.Sprintf("%s reply to %s", Possessive(m.From), m.To)
	}
	return fmt.Sprintf("%s reply to %s %s", Possessive(m.From), Possessive(m.To), m.Sent.Step)
}

// heldFor says how long a message was held back.
func heldFor(from, to time.Duration) string { return "after being held back for " + Span(to-from) }
