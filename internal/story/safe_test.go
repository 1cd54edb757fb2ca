package story

import (
	"slices"
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/trace"
)

func TestWhySafe(t *testing.T) {
	empty := simtest.NewScript("none", 1)
	alone, overlapping := simtest.PausedHolderTrace("writes"), simtest.PausedHolderTrace("writes")
	// The run ends when client-1 has got the lock.
	granted := slices.IndexFunc(alone.Events, func(ev trace.Event) bool { return ev.Kind == trace.KindEnd && ev.Step == trace.Acquire })
	alone.Events = alone.Events[:granted+1]
	// Two clients are in their sections at the same time, and the lock has room for both.
	shared := simtest.PausedHolderTrace("writes")
	shared.Locks[0].Holders = 2
	for _, c := range []struct {
		name  string
		trace *trace.Trace
		want  Raw
	}{
		{"no client gets the lock", &empty.Trace, "no client got the lock"},
		{"one client gets it", alone, "only client-1 entered its critical section"},
		{"sections overlap", overlapping, ""},
		{"sections overlap, as the lock allows", shared, ""},
	} {
		if got := WhySafe(history.New(c.trace)); got != c.want {
			t.Errorf("%s: the reason is %q, want %q", c.name, got, c.want)
		}
	}
}
