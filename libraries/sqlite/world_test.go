package sqlite_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/floor"
	_ "github.com/locksim/locksim/libraries/sqlite"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// gcPause is the world of a pause, on one machine.
func gcPause(t testing.TB, kind string, fencing storage.Policy) sim.Config {
	cfg := GCPause(t, kind, 10*time.Second, fencing)
	cfg.Network = sim.Network{Min: 20 * time.Microsecond, Max: 100 * time.Microsecond}
	return cfg
}

// TestGCPause checks a holder whose lease ends in a pause. It writes when it continues,
// although the lease has ended.
func TestGCPause(t *testing.T) {
	for fencing, broken := range map[storage.Policy]string{
		storage.None:   "section-exclusion inherent: needs fencing, grant-order, write-order, no-lost-update, serial-sections",
		storage.Writes: "section-exclusion inherent: needs fencing",
	} {
		tr := RunWorld(t, gcPause(t, "sqlite-lease", fencing))
		AllFaultsStruck(t, tr)
		Equal(t, string(fencing), Violations(tr), broken)
		NoEvents(t, tr, trace.KindRanOn, "client-1")
		Equal(t, "the row", KeyHistory(tr, "sqlite-1"), "set 1, expire 1, set 11, delete 11")
	}
}

// TestTheJournalIsRolledBack kills a process, or cuts its machine's power, at each of the
// answers that it gets while it acquires the row. Until its journal is deleted, SQLite in
// the other process rolls back what it has written. After that, the killed process holds
// the lock until the lease expires.
func TestTheJournalIsRolledBack(t *testing.T) {
	crash := func(n string, how func(at string) []sim.Fault) string {
		cfg := gcPause(t, "sqlite-lease", storage.Writes)
		cfg.Clients[1].Starts = Point("client-1 crashed")
		cfg.Faults = nil
		cfg = WithFaults(cfg, how("sqlite-1's reply to client-1's acquire arrived, "+n+" time")...)
		tr := RunWorld(t, cfg)
		AllFaultsStruck(t, tr)
		Equal(t, "broken", Violations(tr), "")
		if served := StorageOps(tr); !strings.Contains(served, "write x for client-2") || strings.Contains(served, "client-1") {
			t.Errorf("the storage has served %s", served)
		}
		var events []string
		for _, ev := range tr.Events {
			if ev.Key != "" && ev.Process == "sqlite-1" {
				events = append(events, string(ev.Kind)+" "+ev.Value)
			}
		}
		return strings.Join(events, ", ")
	}
	for name, how := range howItEnds {
		for _, n := range []string{"1st", "2nd", "3rd", "4th", "5th", "6th"} {
			if events := crash(n, how); strings.Contains(events, "client-1") {
				t.Errorf("%s at the %s answer: %s", name, n, events)
			}
		}
	}
	// A power loss undoes even that: SQLite does not wait until the deletion of the journal
	// is on the disk.
	for how, want := range map[string]string{
		crash("7th", howItEnds["killed"]):     "set client-1/1, expire client-1/1, set client-2/",
		crash("7th", howItEnds["power loss"]): "set client-1/1, forget client-1/1, set client-2/",
	} {
		Equal(t, "when the journal is deleted", how[:min(len(want), len(how))], want)
	}
}

// TestAWriteIsRolledBack does the same where the data is in the file, at each of the
// answers that a process gets to its write. Until its journal is deleted the write does not
// count, and from then on it does. A power loss then undoes only what no client had been
// told.
func TestAWriteIsRolledBack(t *testing.T) {
	writes := func(n string, how func(at string) []sim.Fault) string {
		cfg := gcPause(t, "sqlite-transaction-data", storage.None)
		cfg.Clients[1].Starts = Point("client-1 crashed")
		cfg.Faults = nil
		cfg = WithFaults(cfg, how("sqlite-1's reply to client-1's write arrived, "+n+" time")...)
		tr := RunWorld(t, cfg)
		AllFaultsStruck(t, tr)
		Equal(t, "broken", Violations(tr), "")
		var events []string
		for _, ev := range tr.Events {
			switch ev.Kind {
			case trace.KindServe:
				events = append(events, fmt.Sprintf("%s %d for %d", ev.Client(), ev.Version, ev.Replaced))
			case trace.KindRevert:
				events = append(events, fmt.Sprintf("back to %d", ev.Version))
			}
		}
		return strings.Join(events, ", ")
	}
	for _, n := range []string{"1st", "2nd", "3rd", "4th"} {
		for name, how := range howItEnds {
			Equal(t, name+" at the "+n+" answer", writes(n, how), "client-2 1 for 0")
		}
	}
	Equal(t, "killed when the journal is deleted", writes("5th", howItEnds["killed"]), "client-1 1 for 0, client-2 2 for 1")
	Equal(t, "power loss when the journal is deleted", writes("5th", howItEnds["power loss"]), "client-1 1 for 0, back to 0, client-2 1 for 0")
}

// howItEnds are the ways in which a process ends, alone or with its machine.
var howItEnds = map[string]func(at string) []sim.Fault{
	"killed": func(at string) []sim.Fault { return []sim.Fault{When(at, Crashed("client-1", trace.Kill))} },
	"power loss": func(at string) []sim.Fault {
		return []sim.Fault{Lasting(time.Second, When(at, Crashed("sqlite-1", trace.PowerLoss))), When(at, Crashed("client-1", trace.PowerLoss))}
	},
}
