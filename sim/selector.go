package sim

import (
	"fmt"
	"slices"
	"strings"
)

// A Message selects messages between a client and another process. A service is
// a client to the process that it passes requests on to.
//
//	CLIENT's request to PROCESS
//	CLIENT's STEP request to PROCESS
//	PROCESS's reply to CLIENT
//	PROCESS's reply to CLIENT's STEP
//
// With a step it selects those that belong to that step. Messages that only set
// a connection up are not selected. [Message.InFlight], [Message.Arrived] and
// [Message.Hold] make points and a fault of it.
type Message struct {
	Client string
	Peer   string // "" selects those to or from any process
	Step   Step   // "" selects those of any step
	Reply  bool
}

// ParseMessage reads a selection of messages.
func ParseMessage(s string) (Message, error) {
	var m Message
	words := strings.Fields(s)
	fail := misread(s, "selects no message", `write "client-1's write request to storage" or "redis-3's reply to client-1's acquire"`)
	if len(words) < 4 {
		return m, fail
	}
	owner, ok := strings.CutSuffix(words[0], "'s")
	if !ok {
		return m, fail
	}
	switch rest := words[1:]; {
	case len(rest) == 3 && rest[0] == "request" && rest[1] == "to":
		m.Client, m.Peer = owner, rest[2]
	case len(rest) == 4 && rest[1] == "request" && rest[2] == "to":
		m.Client, m.Step, m.Peer = owner, Step(rest[0]), rest[3]
	case len(rest) >= 3 && rest[0] == "reply" && rest[1] == "to":
		m.Reply, m.Peer = true, owner
		if m.Client, m.Step, ok = parseClientStep(rest[2:]); !ok {
			return m, fail
		}
	default:
		return m, fail
	}
	if m.Client == "" || m.Peer == "" {
		return m, fail
	}
	if m.Step != "" && !slices.Contains(Steps(), m.Step) {
		return m, fmt.Errorf("%q: there is no step %q; the steps are %s", s, m.Step, tellSteps())
	}
	return m, nil
}

// parseClientStep reads "client-1" or "client-1's acquire".
func parseClientStep(words []string) (client string, step Step, ok bool) {
	switch len(words) {
	case 1:
		return words[0], "", !strings.HasSuffix(words[0], "'s")
	case 2:
		client, ok = strings.CutSuffix(words[0], "'s")
		return client, Step(words[1]), ok
	}
	return "", "", false
}

// String is the selection as one writes it.
func (m Message) String() string {
	of := m.Client
	if m.Step != "" {
		of += "'s " + string(m.Step)
	}
	switch {
	case m.Peer == "" && m.Reply:
		return "every reply to " + of
	case m.Peer == "":
		return "every request of " + of
	case m.Reply:
		return fmt.Sprintf("%s's reply to %s", m.Peer, of)
	case m.Step != "":
		return fmt.Sprintf("%s request to %s", of, m.Peer)
	}
	return fmt.Sprintf("%s's request to %s", m.Client, m.Peer)
}

// InFlight is the point at which such a message is sent for the nth time in the
// run; nth 0 is each time. The message must have a Peer.
func (m Message) InFlight(nth int) Point { return m.point(false, nth) }

// Arrived is the point at which such a message is delivered for the nth time in
// the run; nth 0 is each time. The message must have a Peer.
func (m Message) Arrived(nth int) Point { return m.point(true, nth) }

func (m Message) point(arrived bool, nth int) Point {
	text := m.String() + " is in flight"
	if arrived {
		text = m.String() + " arrived"
	}
	if nth > 0 {
		text += ", " + NthTime(nth)
	}
	return Point{text: text, clauses: []clause{{nth: nth, what: transit{m, arrived}}}}
}

// Hold is a fault that holds back the nth such message that is sent from the
// fault's moment on; nth 0 is the first. The message must have a Peer.
func (m Message) Hold(nth int) *Hold {
	if nth <= 1 {
		return &Hold{m.String()}
	}
	return &Hold{m.String() + ", " + NthTime(nth)}
}

// IsZero says that nothing is selected.
func (m Message) IsZero() bool { return m.Client == "" }

// Names lists the processes that the selection speaks of.
func (m Message) Names() []string {
	if m.Peer == "" {
		return []string{m.Client}
	}
	return []string{m.Client, m.Peer}
}

// matches says whether an event is about a selected message.
func (m Message) matches(ev *Event) bool {
	client, peer := ev.Process, ev.Peer
	if ev.Reply != (ev.Kind == KindDeliver) {
		// The sender of a reply and the receiver of a request are not the client.
		client, peer = peer, client
	}
	return !ev.Handshake && ev.Reply == m.Reply && client == m.Client &&
		(m.Peer == "" || peer == m.Peer) && (m.Step == "" || ev.Step == m.Step)
}

// transit: a message is on its way, or has arrived.
type transit struct {
	Message
	arrived bool
}

func (t transit) parts() []part {
	parts := []part{{t.Client, ofCaller}}
	if t.Peer != "" {
		parts = append(parts, part{t.Peer, ofServer})
	}
	return parts
}

func (t transit) matcher(*Trace) func(*Event) bool {
	kind := KindSend
	if t.arrived {
		kind = KindDeliver
	}
	return func(ev *Event) bool { return ev.Kind == kind && t.matches(ev) }
}

// everyTransit: the messages of all nodes of the lock are on their way at once,
// or have all arrived, in one section.
type everyTransit struct{ transit }

func (t everyTransit) matcher(trace *Trace) func(*Event) bool {
	nodes := map[string]bool{}
	for _, l := range trace.Locks {
		for _, s := range l.Slots {
			nodes[s.Node] = true
		}
	}
	there := map[string]bool{}
	section := -1
	return func(ev *Event) bool {
		if ev.Kind != KindSend && ev.Kind != KindDeliver || !t.matches(ev) {
			return false
		}
		if ev.Section != section {
			section = ev.Section
			clear(there)
		}
		node := ev.Process
		if !nodes[node] {
			node = ev.Peer
		}
		if !nodes[node] {
			return false
		}
		if there[node] = (ev.Kind == KindDeliver) == t.arrived; !there[node] {
			return false
		}
		for n := range nodes {
			if !there[n] {
				return false
			}
		}
		return true
	}
}

// parseTransit reads what stands before "is in flight" or "arrived".
func parseTransit(s string, arrived bool) (happening, error) {
	words := strings.Fields(s)
	if words[0] != "every" {
		m, err := ParseMessage(s)
		if err != nil {
			return nil, err
		}
		return transit{m, arrived}, nil
	}
	var m Message
	var ok bool
	if len(words) >= 4 && (words[1] == "reply" && words[2] == "to" || words[1] == "request" && words[2] == "of") {
		m.Reply = words[1] == "reply"
		m.Client, m.Step, ok = parseClientStep(words[3:])
	}
	if !ok || m.Step != "" && !slices.Contains(Steps(), m.Step) {
		return nil, misread(s, "selects no messages", `write "every reply to client-1's acquire" or "every request of client-1's acquire"`)
	}
	return everyTransit{transit{m, arrived}}, nil
}
