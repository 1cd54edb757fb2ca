package zookeeper_test

import (
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// The world's data is in ZooKeeper. A write on a session that has expired is refused. So a
// client that is paused just before its write does no damage. If the client keeps working
// for a while after the pause, it has a new session by the time of its write, and does as
// much damage as with any other storage. Comparing the version prevents that without a
// fencing token.
func TestDataInZooKeeper(t *testing.T) {
	const (
		overlap = "section-exclusion inherent: needs fencing"
		harm    = overlap + ", grant-order, write-order, no-lost-update, serial-sections"
	)
	for _, kind := range kinds {
		for _, c := range []struct {
			works    time.Duration
			fencing  storage.Policy
			broken   string
			versions int
		}{
			{0, storage.None, overlap, 1},
			{5 * time.Second, storage.None, harm, 2},
			{5 * time.Second, storage.Optimistic, overlap, 1},
		} {
			cfg := gcPause(t, kind, c.fencing)
			cfg.Storage.InCluster = true
			cfg.Lock.Options.Without = []string{"loss-signal"}
			cfg.Clients[0].Works = c.works
			if c.works > 0 {
				cfg.Faults[0].Strikes = Before("client-1 work", nil).Strikes
			}
			tr := RunWorld(t, cfg)
			AllFaultsStruck(t, tr)
			Equal(t, kind+": violations", Violations(tr), c.broken)
			NoEvents(t, tr, trace.KindServe, trace.StorageName)
			Equal(t, "writes applied", OnlyEvent(t, tr, trace.KindObject, "zookeeper").Version, c.versions)
			if err := tr.Validate(); err != nil {
				t.Error(err)
			}
		}
	}
}

// staleReadWorld returns a world in which client-2 writes and releases, and then client-3
// reads the data. client-3 reads from zookeeper-1 if it uses a separate session for the
// data, and otherwise from zookeeper-3. If late is positive, everything reaches zookeeper-1
// late.
func staleReadWorld(t testing.TB, late time.Duration, s sim.Storage) sim.Config {
	cfg := world(t, "zookeeper", 3,
		sim.Client{Name: "client-2"},
		sim.Client{Name: "client-3", Starts: Point("client-2 read"), StartsOver: true})
	s.InCluster = true
	cfg.Storage = s
	if late > 0 {
		cfg.Faults = []sim.Fault{When("client-2 read", &sim.Delay{Process: "zookeeper-3", To: "zookeeper-1", By: late})}
	}
	return cfg
}

// An update is lost only if four things come together: a server that lacks the latest
// changes, a separate session for the data, no sync before the read, and a setData that
// does not compare the version.
func TestReadFromAServerThatIsBehind(t *testing.T) {
	for _, c := range []struct {
		what    string
		late    time.Duration
		storage sim.Storage
		broken  string
	}{
		{"all four conditions", time.Second, sim.Storage{OwnClient: true}, "no-lost-update, serial-sections"},
		{"the server is not behind", 0, sim.Storage{OwnClient: true}, ""},
		{"one session for the lock and the data", time.Second, sim.Storage{}, ""},
		{"a sync before the read", time.Second, sim.Storage{OwnClient: true, Reads: "synced"}, ""},
	} {
		Equal(t, c.what+": violations", Violations(RunWorld(t, staleReadWorld(t, c.late, c.storage))), c.broken)
		c.storage.Fencing = storage.Optimistic
		tr := RunWorld(t, staleReadWorld(t, c.late, c.storage))
		Equal(t, c.what+", and the version is compared: violations", Violations(tr), "")
		Equal(t, "the last version", OnlyEvent(t, tr, trace.KindObject, "zookeeper").Version, 2)
	}
}

// A client that stops waiting for an answer does not know whether its data was set.
func TestDataWithoutAnswer(t *testing.T) {
	cfg := staleReadWorld(t, 0, sim.Storage{})
	cfg.Clients = cfg.Clients[:1]
	cfg.Clients[0].GivesUp = 100 * time.Millisecond
	cfg.Faults = []sim.Fault{Before("client-2 write", &sim.Delay{Process: "zookeeper-2", To: "client-2", By: time.Second, Direction: sim.To})}
	tr := RunWorld(t, cfg)
	Equal(t, "steps of client-2", Steps(tr, "client-2"), "acquire, read x, write x failed, release")
	Equal(t, "the last version", OnlyEvent(t, tr, trace.KindObject, "zookeeper").Version, 1)
}
