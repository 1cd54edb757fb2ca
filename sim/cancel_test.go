package sim_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// worldOnThreeNodes returns a world of some clients and a lock that is kept on three nodes.
func worldOnThreeNodes(clients ...sim.Client) sim.Config {
	cfg := SectionsWorld(ToyLock, clients...)
	cfg.Nodes = Nodes("toy", 3)
	return cfg
}

// A client cancels its current call of the lock each time that its point is reached. What a
// cancelled call still does depends on the lock: the test lock sends nothing to further
// nodes, and after a cancelled acquire it deletes the key on the first node.
func TestCancel(t *testing.T) {
	for _, test := range []struct {
		name    string
		cancels string // the point at which the client cancels its call
		client  sim.Client
		cancel  string // step and section of each cancelled call
		steps   string
		keys    map[string]string // by node: what happens to the key, with sections
	}{
		{
			name:    "the first acquire is cancelled",
			cancels: "client-1's acquire request to toy-1 is in flight, 1st time", cancel: "acquire 1",
			steps: "acquire failed, acquire, read x, write x, release",
			keys:  map[string]string{"toy-1": "set 1, delete 1, set 2, delete 2", "toy-2": "set 2, delete 2", "toy-3": "set 2, delete 2"},
		},
		{
			name: "each of three attempts to acquire is cancelled", client: sim.Client{Attempts: 3},
			cancels: "client-1's acquire request to toy-1 arrived", cancel: "acquire 1, acquire 2, acquire 3",
			steps: "acquire failed, acquire failed, acquire failed",
			keys:  map[string]string{"toy-1": "set 1, delete 1, set 2, delete 2, set 3, delete 3", "toy-2": ""},
		},
		{
			name: "an extend is cancelled", client: sim.Client{Works: 10 * time.Second, ExtendsEvery: 4 * time.Second},
			cancels: "client-1's extend request to toy-2 is in flight, 1st time", cancel: "extend 1",
			steps: "acquire, read x, extend failed, work failed, release",
			keys:  map[string]string{"toy-1": "set 1, touch 1, delete 1", "toy-2": "set 1, touch 1, delete 1", "toy-3": "set 1, delete 1"},
		},
		{
			// The cancelled release leaves the keys behind. They can be set again only when
			// they have expired.
			name: "a release is cancelled, and the client has a second section", client: sim.Client{Sections: 2, RetryEvery: 20 * time.Second},
			cancels: "client-1's release request to toy-1 is in flight, 1st time", cancel: "release 1",
			steps: "acquire, read x, write x, release failed, acquire failed, acquire failed, acquire, read x, write x, release",
			keys:  map[string]string{"toy-3": "set 1, expire 1, set 4, delete 4"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := test.client
			client.Name, client.Cancels = "client-1", Point(test.cancels)
			tr := RunWorld(t, worldOnThreeNodes(client))
			Equal(t, "the cancelled calls", Cancels(tr, "client-1"), test.cancel)
			Equal(t, "the client's steps", Steps(tr, "client-1"), test.steps)
			for node, want := range test.keys {
				Equal(t, "the key on "+node, KeyHistory(tr, node), want)
			}
			Equal(t, "the doubts", strings.Join(tr.Doubts, "; "), "")
		})
	}
}

// A cancellation does not stop a request in flight. The request arrives, even long after
// the client has continued and its next lease has ended.
func TestRequestOfACancelledCallArrives(t *testing.T) {
	cfg := WithFaults(worldOnThreeNodes(sim.Client{
		Name: "client-1", Cancels: Point("client-1's acquire request to toy-1 is in flight, 1st time"), Works: 40 * time.Second,
	}), Lasting(35*time.Second, At(0, &sim.Hold{HeldMessage("client-1's acquire request to toy-1, 1st time")})))
	tr := RunWorld(t, cfg)
	Equal(t, "the client's steps", Steps(tr, "client-1"), "acquire failed, acquire, read x, work, write x, release failed")
	Equal(t, "the key on toy-1", KeyHistory(tr, "toy-1"), "set 2, expire 2, set 1")
	late := Events(tr, trace.KindSet, "toy-1")[1]
	EqualTime(t, "the request of the cancelled call set the key", late.At, 35*time.Second+Hop)
}

// A paused client cancels the call when it resumes.
func TestCancelOfAPausedClient(t *testing.T) {
	const asks = "client-1's acquire request to toy-1 is in flight, 1st time"
	cfg := worldOnThreeNodes(sim.Client{Name: "client-1", Cancels: Point("500us after " + asks)})
	tr := RunWorld(t, WithFaults(cfg, Lasting(time.Second, When(asks, PauseOf("client-1")))))
	EqualTime(t, "the client resumed", OnlyEvent(t, tr, trace.KindResume, "client-1").At, time.Second)
	EqualTime(t, "the client cancelled its call", OnlyEvent(t, tr, trace.KindCancel, "client-1").At, time.Second)
	Equal(t, "the client's steps", Steps(tr, "client-1"), "acquire failed, acquire, read x, write x, release")
}

// If the configuration says that a client cancels a call, and the client never does, the
// run is inconclusive: it does not show what its story describes.
func TestClientThatNeverCancels(t *testing.T) {
	// By the point at which the client would cancel a call: the doubt about the run.
	for when, doubt := range map[string]string{
		"client-1's acquire request to toy-1 arrived":          "",
		"client-1 acquired":                                    "client-1 never cancelled a call of its lock: it does so when client-1 acquired", // the call has ended
		"storage applied client-1's write":                     "client-1 never cancelled a call of its lock: it does so when storage applied client-1's write",
		"client-1 extended":                                    "client-1 never cancelled a call of its lock: it does so when client-1 extended",
		"1s after client-1's acquire request to toy-1 arrived": "client-1 never cancelled a call of its lock: it does so when 1s after client-1's acquire request to toy-1 arrived",
	} {
		tr := RunWorld(t, SectionsWorld(ToyLock, sim.Client{Name: "client-1", Cancels: Point(when), Works: 10 * time.Second, Attempts: 2}))
		Equal(t, when+": the doubts", strings.Join(tr.Doubts, "; "), doubt)
		witness, err := trace.ParseWitness("client-1 cancelled")
		if err != nil {
			t.Fatal(err)
		}
		Equal(t, when+": the witness that client-1 cancelled was seen", history.WasSeen(witness, tr), doubt == "")
	}
}

// A lock has several goroutines, and an answer arrives at the moment of the cancellation.
// The trace must not depend on which goroutine sees the cancellation or the answer first.
func TestCancelIsDeterministic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, at := range []string{
		"toy-1's reply to client-1's acquire arrived, 1st time",
		"client-1's acquire request to toy-1 arrived",
		"client-1's release request to toy-1 is in flight",
		"toy-1's reply to client-1 arrived, 2nd time",
		"client-2 acquired",
	} {
		cfg := worldOnThreeNodes(
			sim.Client{Name: "client-1", Sections: 2, Attempts: 5, Cancels: Point(at), Works: 3 * time.Second, ExtendsEvery: time.Second},
			sim.Client{Name: "client-2", RetryEvery: 777 * time.Millisecond},
		)
		want := RunWorld(t, cfg)
		cfg.Disturb = YieldRandomly
		for i := range 6 {
			runtime.GOMAXPROCS(1 << (i % 3))
			if got := RunWorld(t, cfg); got.Hash() != want.Hash() {
				t.Fatalf("%s: run %d differs from the first run: %s", at, i+1, trace.FirstDifference(want, got))
			}
		}
	}
}
