package history

import (
	"strings"

	"github.com/locksim/locksim/trace"
)

// What servers and libraries say of an error is their own text. A trace quotes it, and
// what has to be told apart of it is told apart here.

// UnknownScript says that a reply is Redis's that it does not know the script which it
// was to run: nobody has told it yet, or it has been restarted since.
func UnknownScript(reply *trace.Event) bool {
	return reply.Reply && strings.HasPrefix(reply.Text, "NOSCRIPT")
}
