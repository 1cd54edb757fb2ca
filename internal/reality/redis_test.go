package reality

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locksim/locksim/sim"
)

// Confirmations of a subscription and what is published answer no other request; the last
// confirmation answers the subscription.
func TestAnswersOfRedis(t *testing.T) {
	confirmation := func(kind, command, channel, count string) string {
		return fmt.Sprintf("%s3\r\n$%d\r\n%s\r\n$1\r\n%s\r\n:%s\r\n", kind, len(command), command, channel, count)
	}
	published := "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$2\r\nhi\r\n"
	for _, c := range []struct {
		what      string
		exchanges []string // the oldest request, what arrives, and whether it completes the request
	}{
		{"RESP 2", []string{
			"GET x", "$1\r\n1\r\n", "yes",
			"LRANGE x 0 -1", published, "yes",
			"SUBSCRIBE a b", confirmation("*", "subscribe", "a", "1"), "no",
			"SUBSCRIBE a b", confirmation("*", "subscribe", "b", "2"), "yes",
			"PING", published, "no",
			"PING", "*2\r\n$4\r\npong\r\n$0\r\n\r\n", "yes",
			"", published, "no",
			"UNSUBSCRIBE a b", confirmation("*", "unsubscribe", "a", "1"), "no",
			"UNSUBSCRIBE a b", confirmation("*", "unsubscribe", "b", "0"), "yes",
			"LRANGE x 0 -1", published, "yes",
		}},
		{"RESP 3", []string{
			"SUBSCRIBE a", confirmation(">", "subscribe", "a", "1"), "yes",
			"GET x", ">" + published[1:], "no",
			"LRANGE x 0 -1", published, "yes",
		}},
		{"a reset", []string{
			"SUBSCRIBE a", confirmation("*", "subscribe", "a", "1"), "yes",
			"RESET", "+RESET\r\n", "yes",
			"LRANGE x 0 -1", published, "yes",
		}},
	} {
		cut := &redisCutter{}
		for i := 0; i < len(c.exchanges); i += 3 {
			request, answer, want := c.exchanges[i], c.exchanges[i+1], c.exchanges[i+2] == "yes"
			if got := cut.completes([]byte(answer), sim.Frame{Body: strings.Fields(request)}); got != want {
				t.Errorf("%s: %q completes %q: %v, want %v", c.what, answer, request, got, want)
			}
		}
	}
}
