package history

import (
	"strings"

	"github.com/locksim/locksim/trace"
)

// A trace quotes the commands of clients as they were sent: words with spaces between them.
// This file extracts facts from these words.

// Command returns the words of a request, such as SET, a key and a value; nil if the message
// is a reply.
func (m *Message) Command() []string {
	if m.Sent.Reply {
		return nil
	}
	return strings.Fields(m.Sent.Text)
}

// CommandOf returns the words of the command that an actor sent, and the event at which it
// was sent; nil if the actor sent none.
func (h *History) CommandOf(actor *trace.Actor) ([]string, *trace.Event) {
	if actor == nil {
		return nil, nil
	}
	sent := h.Event(actor.Sent)
	if sent == nil {
		return nil, nil
	}
	return strings.Fields(sent.Text), sent
}

// IsCancellation reports whether the message only cancels calls that the client had sent
// before, or ends the connection. See [trace.CancelPrefix] and [trace.EndOfConnection].
func (m *Message) IsCancellation() bool {
	for part := range strings.SplitSeq(m.Sent.Text, "; ") {
		if !strings.HasPrefix(part, trace.CancelPrefix) && part != trace.EndOfConnection {
			return false
		}
	}
	return true
}

// Mentions reports whether the text of the message contains a key, or a name made from the
// key, such as the channel on which a lock announces that it is free.
func (m *Message) Mentions(key string) bool { return strings.Contains(m.Sent.Text, key) }
