package sqlite_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/libraries/sqlite"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// processAndDisk returns a world with one process, which executes run, and a disk.
func processAndDisk(t *testing.T, run func(context.Context, *sim.Program) error) sim.Config {
	cfg := ToyWorld(Client(t, "client-1", run))
	cfg.Nodes = Nodes(locks.SQLite, 1)
	return cfg
}

// TestReservationKeepsReadersOut checks which processes that wait for exclusive access keep
// new readers out. A process that has reserved the file keeps them out. A process that wants
// to roll back another process's journal has not reserved the file, and does not keep them
// out.
func TestReservationKeepsReadersOut(t *testing.T) {
	// The first process reads the file. The second one asks for exclusive access. Then the
	// third one wants to read.
	for _, c := range []struct {
		second string // the levels of lock for which the second process asks, in order
		third  string // whether the third process may read: yes or no
	}{
		{"shared reserved exclusive", "no"},
		{"shared exclusive", "yes"},
	} {
		RunWorld(t, processAndDisk(t, func(ctx context.Context, p *sim.Program) error {
			last := map[string]string{} // the last answer to each process: yes or no
			for _, process := range []struct{ name, wants string }{{"first", "shared"}, {"second", c.second}, {"third", "shared"}} {
				file, err := Dial(ctx, p, 0)
				if err != nil {
					return err
				}
				requests := []string{`{"op":"open","name":"a.db"}`}
				for _, level := range strings.Fields(process.wants) {
					n := map[string]int{"shared": 1, "reserved": 2, "exclusive": 4}[level]
					requests = append(requests, fmt.Sprintf(`{"op":"lock","level":%d,"knows":0}`, n))
				}
				for _, line := range requests {
					answer, err := Ask(file, line)
					if err != nil {
						return err
					}
					last[process.name] = "no"
					if strings.Contains(answer, `"yes":true`) {
						last[process.name] = "yes"
					}
				}
			}
			Equal(t, "answers to the first process, to the second, which asks for "+c.second+", and to the third",
				last["first"]+" "+last["second"]+" "+last["third"], "yes no "+c.third)
			return nil
		}))
	}
}

// TestPowerLossRestoresDeletedJournal checks a power loss ten seconds into the run. A
// transaction of the last five seconds is undone, because the deletion of its journal was not
// on the disk and the journal exists again. The transaction is not undone if SQLite waits
// until the deletion is on the disk, or if a file was synced in between.
func TestPowerLossRestoresDeletedJournal(t *testing.T) {
	insert := func(value string) string { return "INSERT INTO t VALUES ('" + value + "')" }
	for _, c := range []struct {
		name    string
		setting string                   // SQLite's setting synchronous
		left    string                   // the values in the table after the power loss
		values  map[string]time.Duration // when each value is inserted; "elsewhere": when another file is changed
	}{
		{"a transaction 5.1 s before the power loss", "FULL", "[a]", map[string]time.Duration{"a": 4900 * time.Millisecond}},
		{"a transaction 0.1 s before the power loss", "FULL", "[]", map[string]time.Duration{"a": 9900 * time.Millisecond}},
		{"two transactions before the power loss: only the last is undone", "FULL", "[a]", map[string]time.Duration{"a": 9800 * time.Millisecond, "b": 9900 * time.Millisecond}},
		{"another file is synced after the transaction", "FULL", "[a]", map[string]time.Duration{"a": 9800 * time.Millisecond, "elsewhere": 9900 * time.Millisecond}},
		{"SQLite waits for the deletion of the journal", "EXTRA", "[a]", map[string]time.Duration{"a": 9900 * time.Millisecond}},
	} {
		var left string
		cfg := processAndDisk(t, func(ctx context.Context, p *sim.Program) error {
			s, err := sqlite.Open(p.Env(), "a.db", "")
			if err != nil {
				return err
			}
			for _, text := range []string{"CREATE TABLE t (v TEXT)", "PRAGMA synchronous = " + c.setting} {
				if _, err := s.Exec(ctx, text); err != nil {
					return err
				}
			}
			for _, value := range []string{"a", "b"} {
				if at, is := c.values[value]; is {
					SleepUntil(at)
					if _, err := s.Exec(ctx, insert(value)); err != nil {
						return err
					}
				}
			}
			if at, is := c.values["elsewhere"]; is {
				SleepUntil(at)
				other, err := sqlite.Open(p.Env(), "b.db", "")
				if err != nil {
					return err
				}
				if _, err := other.Exec(ctx, "CREATE TABLE t (v TEXT)"); err != nil {
					return err
				}
			}
			SleepUntil(11 * time.Second)
			const query = "SELECT v FROM t ORDER BY v"
			if _, err = s.Exec(ctx, query); err == nil {
				t.Errorf("%s: the first query after the power loss succeeds, want an error because the file has to be opened again", c.name)
			}
			rows, err := s.Exec(ctx, query)
			left = fmt.Sprint(rows)
			return err
		})
		RunWorld(t, WithFaults(cfg, Lasting(Hop, At(10*time.Second, CrashOf("sqlite-1", trace.PowerLoss)))))
		Equal(t, c.name+": values after the power loss", left, c.left)
	}
}

// TestAJournalThatCannotBeDeleted checks that a transaction whose journal cannot be deleted
// is not committed, not even for its own process.
func TestAJournalThatCannotBeDeleted(t *testing.T) {
	var left [2]string // the values that each connection reads in the end
	cfg := processAndDisk(t, func(ctx context.Context, p *sim.Program) error {
		var all [2]*sqlite.Session
		for i := range all {
			s, err := sqlite.Open(p.Env(), "a.db", "")
			if err != nil {
				return err
			}
			all[i] = s
			if _, err := s.Exec(ctx, "CREATE TABLE IF NOT EXISTS t (v TEXT)"); err != nil {
				return err
			}
		}
		SleepUntil(time.Second)
		if _, err := all[0].Exec(ctx, "INSERT INTO t VALUES ('a')"); err == nil {
			t.Error("the insert succeeds, want an error because the journal cannot be deleted")
		}
		SleepUntil(2 * time.Second)
		for i, s := range all {
			rows, err := s.Exec(ctx, "SELECT v FROM t")
			if err != nil {
				return err
			}
			left[i] = fmt.Sprint(rows)
		}
		return nil
	})
	RunWorld(t, WithFaults(cfg, Lasting(time.Second/2, At(time.Second+12*time.Millisecond+Hop/2, &sim.Fail{Node: "sqlite-1"}))))
	Equal(t, "values that the first and the second connection read", left[0]+" "+left[1], "[] []")
}
