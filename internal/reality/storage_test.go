package reality_test

import (
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// endsOf lists the results of a client's steps of one kind: ok, or the error.
func endsOf(tr *trace.Trace, client string, step trace.Step) string {
	var ends []string
	for _, ev := range tr.Events {
		if ev.Kind == trace.KindEnd && ev.Process == client && ev.Step == step {
			if ev.OK {
				ends = append(ends, "ok")
				continue
			}
			ends = append(ends, ev.Text)
		}
	}
	return strings.Join(ends, ", ")
}

// finalData lists the objects at the end of a run, each as name=value.
func finalData(tr *trace.Trace) string {
	var all []string
	for _, ev := range tr.Events {
		if ev.Kind == trace.KindObject {
			all = append(all, ev.Object+"="+ev.Value)
		}
	}
	return strings.Join(all, " ")
}

// A storage that is killed comes back with its data. A token that it keeps only in memory is
// lost, so it accepts a write with an older token. A token that it keeps with the data is not
// lost.
func TestCrashOfTheStorage(t *testing.T) {
	const scenario = `clients:
  client-1: {works-until: storage restarted, attempts: 1}
  client-2: {starts: client-1's keys expired}
faults:
  - {when: client-2 released, crash: storage, for: 50ms}
`
	for policy, want := range map[storage.Policy]string{
		storage.VolatileToken: "ok",
		storage.Writes:        "the storage refused it: token 1 is older than token 2, which the storage has already seen",
	} {
		tr := mustPlay(t, "plain", scenario, func(cfg *sim.Config) { cfg.Storage.Fencing = policy })
		if got := endsOf(tr, "client-1", trace.Write); got != want {
			t.Errorf("%s: client-1's write after the crash: %q, want %q", policy, got, want)
		}
		events := eventsOf(tr, trace.StorageName, trace.KindCrash, trace.KindRestart, trace.KindForgetToken)
		if wantEvents := strings.TrimSpace("crash restart " + map[bool]string{true: "forget-token"}[want == "ok"]); events != wantEvents {
			t.Errorf("%s: the storage has the events %q, want %q", policy, events, wantEvents)
		}
		if value := "x=client-" + map[bool]string{true: "1", false: "2"}[want == "ok"]; !strings.HasPrefix(finalData(tr), value) {
			t.Errorf("%s: the final data is %q, want %q", policy, finalData(tr), value)
		}
	}
}

// While the storage is down, it refuses connections. A client that resends its requests gets
// through later, and the data of a storage that stays down can be read at the end.
func TestStorageThatIsDown(t *testing.T) {
	resend := func(cfg *sim.Config) {
		cfg.Clients[0].Resends, cfg.Clients[0].RetryEvery = true, 20*time.Millisecond
	}
	for _, c := range []struct {
		until, want, data string
		changes           []func(*sim.Config)
	}{
		{"", "dial storage: connection refused", "x=", nil},
		{", for: 100ms", "ok", "x=client-1", []func(*sim.Config){resend}},
	} {
		tr := mustPlay(t, "plain", "horizon: 3s\nclients:\n  client-1: {works: 50ms}\nfaults:\n  - {after: client-1 read, crash: storage"+c.until+"}\n", c.changes...)
		if got := endsOf(tr, "client-1", trace.Write); got != c.want {
			t.Errorf("crash%s: the write: %q, want %q", c.until, got, c.want)
		}
		if got := finalData(tr); !strings.HasPrefix(got, c.data) {
			t.Errorf("crash%s: the final data is %q, want %q", c.until, got, c.data)
		}
	}
}

// A reset of the connection to the storage, or a crash of the storage, fails the request that is on
// its way. If the request was served before, the write stays.
func TestResetOfTheStorage(t *testing.T) {
	for _, c := range []struct{ fault, data string }{
		{"when: client-1's write request to storage is in flight, reset: client-1, from: storage", "x="},
		{"when: storage applied client-1's write, reset: client-1, from: storage", "x=client-1"},
		{"when: client-1's write request to storage is in flight, crash: storage", "x="},
		{"when: client-1's write request to storage is in flight, pause: storage, for: 100ms", "x=client-1"},
	} {
		tr := mustPlay(t, "plain", "horizon: 3s\nclients:\n  client-1: {}\nfaults:\n  - {"+c.fault+"}\n")
		want := "read storage: connection reset by peer"
		if strings.Contains(c.fault, "pause") {
			want = "ok"
		}
		if got := endsOf(tr, "client-1", trace.Write); got != want {
			t.Errorf("%s: the write: %q, want %q", c.fault, got, want)
		}
		if got := finalData(tr); !strings.HasPrefix(got, c.data) {
			t.Errorf("%s: the final data is %q, want %q", c.fault, got, c.data)
		}
	}
}
