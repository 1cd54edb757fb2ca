package reality_test

import (
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/reality"
	"github.com/locksim/locksim/trace"
)

func init() {
	programs["random-key"] = program{prefix: "4f9A0c77b1D2e3F4:", ready: func(c reality.Command, a *reality.Answer) {
		a.Key = "4f9A0c77b1D2e3F4:" + c.Key
	}}
}

// The trace shows the key of the lock as the program has reported it, although it looks
// like a random value.
func TestNameOfAReportedKey(t *testing.T) {
	tr := mustPlay(t, "random-key", "clients:\n  client-1: {}\n")
	for _, ev := range tr.Events {
		if ev.Kind == trace.KindSend && strings.HasPrefix(ev.Text, "SET ") {
			if !strings.HasPrefix(ev.Text, "SET 4f9A0c77b1D2e3F4:resource ") {
				t.Errorf("the request is %q", ev.Text)
			}
			return
		}
	}
	t.Error("no SET was sent")
}
