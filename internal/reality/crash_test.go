package reality_test

import (
	"strings"
	"testing"

	"github.com/locksim/locksim/trace"
)

// eventsOf lists the kinds of events of a process, one word each.
func eventsOf(tr *trace.Trace, process string, kinds ...trace.Kind) string {
	var all []string
	for _, ev := range tr.Events {
		for _, k := range kinds {
			if ev.Kind == k && ev.Process == process {
				all = append(all, string(k))
			}
		}
	}
	return strings.Join(all, " ")
}

// A server that is shut down while it is stopped ends, and comes back.
func TestShutdownOfAPausedServer(t *testing.T) {
	tr := mustPlay(t, "plain", `horizon: 3s
clients:
  client-1: {starts: redis-1 restarted, attempts: 1}
faults:
  - {at: 50ms, pause: redis-1, for: 10s}
  - {at: 100ms, crash: redis-1, how: shutdown, for: 100ms}
`)
	const want = "pause crash restart"
	if got := eventsOf(tr, "redis-1", trace.KindPause, trace.KindResume, trace.KindCrash, trace.KindRestart); got != want {
		t.Errorf("redis-1 has the events %q, want %q", got, want)
	}
}
