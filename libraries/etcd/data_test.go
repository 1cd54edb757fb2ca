package etcd_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// The data is in etcd, where a pause of the client does the same damage as elsewhere.
// Comparing the version prevents the damage without a fencing token.
func TestDataInEtcd(t *testing.T) {
	for _, name := range []string{"etcd", "etcd-trylock", "etcd-election"} {
		for policy, want := range map[storage.Policy]string{storage.None: inherent + damage, storage.Optimistic: inherent, storage.Owner: inherent} {
			cfg := gcPause(t, name, 3)
			cfg.Storage = sim.Storage{InCluster: true, Fencing: policy}
			tr := RunWorld(t, cfg)
			AllFaultsStruck(t, tr)
			Equal(t, "doubts", strings.Join(tr.Doubts, "; "), "")
			Equal(t, name+" with the storage "+string(policy)+": violations", Violations(tr), want)
			NoEvents(t, tr, trace.KindServe, trace.StorageName)
			versions := 2
			if policy != storage.None {
				versions = 1
			}
			Equal(t, "writes applied", OnlyEvent(t, tr, trace.KindObject, "etcd").Version, versions)
			if err := tr.Validate(); err != nil {
				t.Error(err)
			}
		}
	}
}

// staleReadWorld is a world in which client-1 writes and releases. Afterwards client-2
// reads the data from etcd-3, to which all messages arrive later by late.
func staleReadWorld(t testing.TB, late time.Duration, s sim.Storage) sim.Config {
	var faults []sim.Fault
	if late > 0 {
		faults = []sim.Fault{When("client-1 read", &sim.Delay{Process: "etcd-1", To: "etcd-3", By: late})}
	}
	cfg := gcPause(t, "etcd", 3, faults...)
	cfg.Lock.Options.Without = []string{"all-endpoints"} // so each client asks its own member
	cfg.Faults = faults
	cfg.Clients[1].Starts = Point("client-1 read")
	s.InCluster = true
	cfg.Storage = s
	return cfg
}

// An update is lost only under four conditions: the member is behind, the read is
// serializable, it is from another member than the one that granted the lock, and the write
// compares nothing.
func TestReadFromAMemberThatIsBehind(t *testing.T) {
	const lost = "no-lost-update, serial-sections"
	for _, c := range []struct {
		what    string
		late    time.Duration
		storage sim.Storage
		broken  string
	}{
		{"all four conditions", time.Second, sim.Storage{OwnClient: true, Reads: "serializable"}, lost},
		{"the member is not behind", 0, sim.Storage{OwnClient: true, Reads: "serializable"}, ""},
		{"the read asks the leader", time.Second, sim.Storage{OwnClient: true, Reads: "linearizable"}, ""},
		{"the client reads in its default way", time.Second, sim.Storage{OwnClient: true}, ""},
		{"the read asks the member that granted the lock", time.Second, sim.Storage{Reads: "serializable"}, ""},
	} {
		tr := RunWorld(t, staleReadWorld(t, c.late, c.storage))
		Equal(t, c.what+": violations", Violations(tr), c.broken)
		c.storage.Fencing = storage.Optimistic
		cfg := staleReadWorld(t, c.late, c.storage)
		cfg.Clients[1].StartsOver = true
		tr = RunWorld(t, cfg)
		Equal(t, c.what+", and the version is compared: violations", Violations(tr), "")
		Equal(t, "the last version", OnlyEvent(t, tr, trace.KindObject, "etcd").Version, 2)
	}
}

// A client that stops waiting for a reply does not know whether its write was applied.
func TestWriteWithoutAnswer(t *testing.T) {
	cfg := staleReadWorld(t, 0, sim.Storage{OwnClient: true})
	cfg.Clients = cfg.Clients[:1]
	cfg.Clients[0].GivesUp = 100 * time.Millisecond
	cfg.Faults = []sim.Fault{Before("client-1 write", &sim.Delay{Process: "etcd-2", To: "client-1", By: time.Second, Direction: sim.To})}
	tr := RunWorld(t, cfg)
	Equal(t, "steps of client-1", Steps(tr, "client-1"), "acquire, read x, write x failed, release")
	Equal(t, "the last version", OnlyEvent(t, tr, trace.KindObject, "etcd").Version, 1)
}

// A restored etcd has the data of its backup. Here the backup has none yet.
func TestDataIsRestored(t *testing.T) {
	cfg := gcPause(t, "etcd", 1, Lasting(time.Second, When("client-1 wrote", CrashOf("etcd-1", trace.PowerLoss))))
	cfg.Storage.InCluster, cfg.Storage.Fencing = true, storage.None
	cfg.Nodes[0].Settings = []string{"backup-every=1m"}
	cfg.Clients = cfg.Clients[:1]
	tr := RunWorld(t, cfg)
	gone := OnlyEvent(t, tr, trace.KindRevert, "etcd")
	Equal(t, "version after the restore", gone.Version, 0)
	Equal(t, "version before the restore", gone.Replaced, 1)
	Equal(t, "violations", Violations(tr), "no-lost-update")
}

// A client can work until a point of the run, even if no process of the world is the
// storage.
func TestWorkUntilAPoint(t *testing.T) {
	cfg := staleReadWorld(t, 0, sim.Storage{Fencing: storage.Optimistic})
	cfg.Clients[0].WorksUntil = Point("5s after client-1 read")
	tr := RunWorld(t, cfg)
	read, wrote := Events(tr, trace.KindServe, "etcd-1")[0], Events(tr, trace.KindServe, "etcd")[0]
	Equal(t, "client-1's write is late by", (wrote.At - read.At).Truncate(time.Second), 5*time.Second)
	Equal(t, "violations", Violations(tr), "")
}

// Equal worlds have equal traces.
func TestDeterminismOfData(t *testing.T) {
	checkDeterminism(t, staleReadWorld(t, time.Second, sim.Storage{OwnClient: true, Reads: "serializable", Fencing: storage.Optimistic}))
}
