package history

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/trace"
)

// A trace quotes commands as they were sent: words with spaces between them. What a
// command is about besides what it came to do is read of its words here.

// Knew says whether whoever acted named a value in its command: then it had it from
// somewhere.
func (h *History) Knew(by *trace.Actor, value string) bool {
	sent := h.Event(by.Sent)
	return sent != nil && slices.Contains(strings.Fields(sent.Text), value)
}

// About says whether the message speaks of a key, or of something that is named after it,
// as the channel is on which a lock tells that it is free.
func (m *Message) About(key string) bool { return strings.Contains(m.Sent.Text, key) }

// Names reports whether a word of a message is the key itself.
func (m *Message) Names(key string) bool { return slices.Contains(strings.Fields(m.Sent.Text), key) }
