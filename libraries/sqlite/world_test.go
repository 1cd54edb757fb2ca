package sqlite_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	_ "github.com/locksim/locksim/libraries/sqlite"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// gcPause returns a world in which the holder of a lock of the given kind is paused before it
// writes. All clients run on one machine.
func gcPause(t testing.TB, kind string, fencing storage.Policy) sim.Config {
	cfg := GCPauseWorld(t, kind, 10*time.Second, fencing)
	cfg.Network = sim.Network{Min: 20 * time.Microsecond, Max: 100 * time.Microsecond}
	return cfg
}

// TestGCPause checks a holder whose lease expires while the holder is paused. When the holder
// runs again it writes, although it no longer holds the lock.
func TestGCPause(t *testing.T) {
	for fencing, broken := range map[storage.Policy]string{
		storage.None:   "section-exclusion inherent: needs fencing, grant-order, write-order, no-lost-update, serial-sections",
		storage.Writes: "section-exclusion inherent: needs fencing",
	} {
		tr := RunWorld(t, gcPause(t, "sqlite-lease", fencing))
		AllFaultsStruck(t, tr)
		Equal(t, "violated properties with fencing "+string(fencing), Violations(tr), broken)
		NoEvents(t, tr, trace.KindRanOn, "client-1")
		Equal(t, "events of the lease row", KeyHistory(tr, "sqlite-1"), "set 1, expire 1, set 11, delete 11")
	}
}

// TestTheJournalIsRolledBack kills a process, or cuts the power of the machine, at each
// answer that the process gets while it acquires the row. As long as the journal is not
// deleted, SQLite in the other process rolls back what the killed process has written. If
// the journal was deleted, the killed process holds the lock until the lease expires.
func TestTheJournalIsRolledBack(t *testing.T) {
	// crash returns the events of the row if the crash strikes at the n-th answer.
	crash := func(n string, how func(at string) []sim.Fault) string {
		cfg := gcPause(t, "sqlite-lease", storage.Writes)
		cfg.Clients[1].Starts = Point("client-1 crashed")
		cfg.Faults = nil
		cfg = WithFaults(cfg, how("sqlite-1's reply to client-1's acquire arrived, "+n+" time")...)
		tr := RunWorld(t, cfg)
		AllFaultsStruck(t, tr)
		Equal(t, "violated properties", Violations(tr), "")
		if served := StorageOps(tr); !strings.Contains(served, "write x for client-2") || strings.Contains(served, "client-1") {
			t.Errorf("the storage has executed %q, want a write of client-2 and no request of client-1", served)
		}
		var events []string
		for _, ev := range tr.Events {
			if ev.Key != "" && ev.Process == "sqlite-1" {
				events = append(events, string(ev.Kind)+" "+ev.Value)
			}
		}
		return strings.Join(events, ", ")
	}
	for name, how := range crashes {
		for _, n := range []string{"1st", "2nd", "3rd", "4th", "5th", "6th"} {
			if events := crash(n, how); strings.Contains(events, "client-1") {
				t.Errorf("%s at the %s answer: the events of the row are %q, want none of client-1", name, n, events)
			}
		}
	}
	// A power loss undoes even a committed transaction: SQLite does not wait until the
	// deletion of the journal is on the disk.
	for got, want := range map[string]string{
		crash("7th", crashes["kill"]):       "set client-1/1, expire client-1/1, set client-2/",
		crash("7th", crashes["power loss"]): "set client-1/1, forget client-1/1, set client-2/",
	} {
		Equal(t, "beginning of the row's events if the crash strikes after the deletion of the journal", got[:min(len(want), len(got))], want)
	}
}

// TestAWriteIsRolledBack kills a process, or cuts the power of the machine, at each answer
// that the process gets to its write of data in the same file as the lock. As long as the
// journal is not deleted, the write has no effect. After that it has an effect. A power loss
// undoes only a write that was not acknowledged to any client.
func TestAWriteIsRolledBack(t *testing.T) {
	// writes returns the writes of data, and their undoing, if the crash strikes at the n-th
	// answer: "client-2 1 for 0" is client-2's write of version 1, which replaces version 0.
	writes := func(n string, how func(at string) []sim.Fault) string {
		cfg := gcPause(t, "sqlite-transaction-data", storage.None)
		cfg.Clients[1].Starts = Point("client-1 crashed")
		cfg.Faults = nil
		cfg = WithFaults(cfg, how("sqlite-1's reply to client-1's write arrived, "+n+" time")...)
		tr := RunWorld(t, cfg)
		AllFaultsStruck(t, tr)
		Equal(t, "violated properties", Violations(tr), "")
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
		for name, how := range crashes {
			Equal(t, name+" at the "+n+" answer: writes", writes(n, how), "client-2 1 for 0")
		}
	}
	Equal(t, "kill after the deletion of the journal: writes", writes("5th", crashes["kill"]), "client-1 1 for 0, client-2 2 for 1")
	Equal(t, "power loss after the deletion of the journal: writes", writes("5th", crashes["power loss"]), "client-1 1 for 0, back to 0, client-2 1 for 0")
}

// crashes are the faults of two crashes at a point: of the process client-1 alone, and of its
// machine, with the disk sqlite-1.
var crashes = map[string]func(at string) []sim.Fault{
	"kill": func(at string) []sim.Fault { return []sim.Fault{When(at, CrashOf("client-1", trace.Kill))} },
	"power loss": func(at string) []sim.Fault {
		return []sim.Fault{Lasting(time.Second, When(at, CrashOf("sqlite-1", trace.PowerLoss))), When(at, CrashOf("client-1", trace.PowerLoss))}
	},
}
