package trace

import (
	"fmt"
	"slices"
	"strings"
)

// A Message selects messages between a client and another process. A service that passes
// requests on counts as the client of the process that gets them.
//
//	CLIENT's request to PROCESS
//	CLIENT's STEP request to PROCESS
//	PROCESS's reply to CLIENT
//	PROCESS's reply to CLIENT's STEP
//
// With a step, only the messages of that step are selected. Messages that only set up a
// connection are never selected. [Message.InFlight] and [Message.Arrived] turn a Message
// into points.
type Message struct {
	Client string
	Peer   string // the other process; "" selects the messages to or from any process
	Step   Step   // "" selects the messages of any step
	Reply  bool   // selects replies instead of requests
}

// ParseMessage parses a selection of messages; its grammar is that of [Message].
func ParseMessage(s string) (Message, error) {
	var m Message
	words := strings.Fields(s)
	fail := newParseError(s, "selects no message", `write "client-1's write request to storage" or "redis-3's reply to client-1's acquire"`)
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
		return m, fmt.Errorf("%q: there is no step %q; the steps are %s", s, m.Step, listSteps())
	}
	return m, nil
}

// parseClientStep parses "client-1" or "client-1's acquire".
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

// String returns the selection in the grammar of [Message].
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

// rename returns the selection with its processes renamed.
func (m Message) rename(name func(string) string) Message {
	m.Client = name(m.Client)
	if m.Peer != "" {
		m.Peer = name(m.Peer)
	}
	return m
}

// InFlight returns the point that is reached when a selected message is sent for the nth
// time in the run; nth 0 means each time.
func (m Message) InFlight(nth int) Point {
	return AnyOf(Alternative{Nth: nth, Happening: Transit{m, false}})
}

// Arrived returns the point that is reached when a selected message is delivered for the
// nth time in the run; nth 0 means each time.
func (m Message) Arrived(nth int) Point {
	return AnyOf(Alternative{Nth: nth, Happening: Transit{m, true}})
}

// IsZero reports whether m is the zero Message, which selects nothing.
func (m Message) IsZero() bool { return m.Client == "" }

// Names lists the processes that the selection names.
func (m Message) Names() []string {
	if m.Peer == "" {
		return []string{m.Client}
	}
	return []string{m.Client, m.Peer}
}

// Selects reports whether m selects the message that an event sends, holds, loses or
// delivers.
func (m Message) Selects(ev *Event) bool {
	client, peer := ev.Process, ev.Peer
	if ev.Reply != (ev.Kind == KindDeliver) {
		// The sender of a reply and the receiver of a request are not the client.
		client, peer = peer, client
	}
	return !ev.Handshake && ev.Reply == m.Reply && client == m.Client &&
		(m.Peer == "" || peer == m.Peer) && (m.Step == "" || ev.Step == m.Step)
}

// parseTransit parses the text that is followed by "is in flight" or "arrived".
func parseTransit(s string, arrived bool) (Happening, error) {
	words := strings.Fields(s)
	if words[0] != "every" {
		m, err := ParseMessage(s)
		if err != nil {
			return nil, err
		}
		return Transit{m, arrived}, nil
	}
	var m Message
	var ok bool
	if len(words) >= 4 && (words[1] == "reply" && words[2] == "to" || words[1] == "request" && words[2] == "of") {
		m.Reply = words[1] == "reply"
		m.Client, m.Step, ok = parseClientStep(words[3:])
	}
	if !ok || m.Step != "" && !slices.Contains(Steps(), m.Step) {
		return nil, newParseError(s, "selects no messages", `write "every reply to client-1's acquire" or "every request of client-1's acquire"`)
	}
	return Transit{m, arrived}, nil
}

// An NthMessage is the nth message, from 1, that a [Message] selects. Nth 0 means the same as Nth
// 1.
type NthMessage struct {
	Message
	Nth int
}

// ParseNthMessage parses a message, such as "redis-1's reply to client-1's acquire" or
// "client-1's acquire request to redis-2, 3rd time".
func ParseNthMessage(s string) (NthMessage, error) {
	text, nth, err := parseNth(strings.Join(strings.Fields(s), " "))
	if err != nil {
		return NthMessage{}, err
	}
	m, err := ParseMessage(text)
	return NthMessage{m, nth}, err
}

// String returns the message in the grammar of [ParseNthMessage].
func (m NthMessage) String() string {
	if m.Nth <= 1 {
		return m.Message.String()
	}
	return m.Message.String() + ", " + NthTime(m.Nth)
}

// Rename returns the message with its processes renamed.
func (m NthMessage) Rename(name func(string) string) NthMessage {
	return NthMessage{m.Message.rename(name), m.Nth}
}

// MarshalText returns what String returns.
func (m NthMessage) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText parses a message with [ParseNthMessage].
func (m *NthMessage) UnmarshalText(text []byte) (err error) {
	*m, err = ParseNthMessage(string(text))
	return err
}
