package reality_test

import (
	"testing"

	"github.com/locksim/locksim/internal/reality"
	"github.com/locksim/locksim/trace"
)

func init() {
	programs["subscribes"] = program{answers: map[string]func(*server, reality.Command) reality.Answer{
		reality.Acquire: func(s *server, c reality.Command) reality.Answer {
			s.send("GET", s.key)
			s.send("SUBSCRIBE", "released")
			s.readLine()
			for range 6 { // the lines of the confirmation
				s.readLine()
			}
			other := &server{key: s.key}
			other.open(s.conn.RemoteAddr().String())
			if other.ask("SET", s.key, c.Client, "NX", "PX", "400") != "+OK" {
				return reality.Answer{Type: reality.Failed, Error: "taken"}
			}
			s.conn.Close()
			s.conn, s.answers = other.conn, other.answers
			return reality.Answer{Type: reality.Acquired}
		},
	}}
}

// A subscription in a pipeline behind another command does not count as a request that the
// server executes.
func TestSubscriptionInAPipeline(t *testing.T) {
	tr := mustPlay(t, "subscribes", "horizon: 2s\nclients:\n  client-1: {}\n")
	if got := eventsOf(tr, "client-1", trace.KindDone); got == "" {
		t.Errorf("client-1 has not finished; the doubts are %q", tr.Doubts)
	}
}
