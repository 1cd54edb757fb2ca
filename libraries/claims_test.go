package libraries_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// The figures in docs/claims.md are those of same-alone: how long a lock takes to be granted when
// one client wants it, and how many round trips a section costs.
func TestClaimsCiteTheFiguresOfARun(t *testing.T) {
	document := claims(t)
	for _, c := range []struct {
		lock, says string
		acquire    time.Duration
		trips      int64
	}{
		{"redlock", "with three nodes the grant takes 5 ms, and 2 ms on one node", 5 * time.Millisecond, 7},
		{"single", "one node and a row in PostgreSQL both take two for a section and 2 ms for the grant", 2 * time.Millisecond, 2},
		{"postgres-lease", "one node and a row in PostgreSQL both take two for a section and 2 ms for the grant", 2 * time.Millisecond, 2},
		{"etcd", "two round trips for a section, and so do etcd and a row in PostgreSQL", 4 * time.Millisecond, 2},
	} {
		if !strings.Contains(document, c.says) {
			t.Errorf("docs/claims.md does not say %q", c.says)
		}
		figures := map[string]int64{}
		for _, m := range comesTo(t, sameAlone(t), c.lock)[0].Measures {
			for _, f := range m.Figures {
				figures[m.Name+": "+f.Name] = f.Value
			}
		}
		if got := time.Duration(figures["time-to-acquire: median"]); got < c.acquire-time.Millisecond || got > c.acquire+time.Millisecond {
			t.Errorf("%s: the median time to acquire is %s, want %s within a millisecond", c.lock, got, c.acquire)
		}
		if got := figures["traffic: round trips per section"]; got != c.trips {
			t.Errorf("%s: a section takes %d round trips, want %d", c.lock, got, c.trips)
		}
	}
}

// Between the request for the lock and its answer, the members of etcd send each other as many
// messages as docs/claims.md says, if a follower gets the request.
func TestClaimsCountTheMessagesOfEtcd(t *testing.T) {
	const says = "each change takes seven messages between the servers if a follower gets the request"
	if !strings.Contains(claims(t), says) {
		t.Errorf("docs/claims.md does not say %q", says)
	}
	between, asked := 0, false
	for _, ev := range comesTo(t, sameAlone(t), "etcd")[0].History.Trace.Events {
		atClient := strings.HasPrefix(ev.Process, "client-") || strings.HasPrefix(ev.Peer, "client-")
		switch {
		case ev.Kind == trace.KindBegin && ev.Step == trace.Acquire:
			asked = true
		case ev.Kind == trace.KindEnd && ev.Process == "client-1" && ev.Step == trace.Acquire && ev.OK:
			if between != 7 {
				t.Errorf("the members sent %d messages until the grant, want 7", between)
			}
			return
		case asked && ev.Kind == trace.KindSend && !atClient:
			between++
		}
	}
	t.Error("the lock was not granted")
}

func claims(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/claims.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func sameAlone(t *testing.T) *scenarios.Variant {
	t.Helper()
	s, err := scenarios.Open("same-alone")
	if err != nil {
		t.Fatal(err)
	}
	return s.Variants[0]
}
