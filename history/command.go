package history

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/trace"
)

// A trace quotes the commands of clients as they were sent: words with spaces between them.
// This file extracts facts from these words.

// CommandNamesValue reports whether a command contained a value as one of its words. by is
// the acquisition that sent the command. A client that sends a value knows it.
func (h *History) CommandNamesValue(by *trace.Actor, value string) bool {
	sent := h.Event(by.Sent)
	return sent != nil && slices.Contains(strings.Fields(sent.Text), value)
}

// Mentions reports whether the text of the message contains a key, or a name made from the
// key, such as the channel on which a lock announces that it is free.
func (m *Message) Mentions(key string) bool { return strings.Contains(m.Sent.Text, key) }

// NamesKey reports whether a word of the message is the key itself.
func (m *Message) NamesKey(key string) bool { return slices.Contains(strings.Fields(m.Sent.Text), key) }
