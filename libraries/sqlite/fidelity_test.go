package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/libraries/sqlite"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// scripts are SQL statements on several connections to one database, in order. Each
// statement begins with the number of its connection.
var scripts = map[string][]string{
	"a reader does not keep other readers out": {
		"1 BEGIN", "1 SELECT v FROM t", "2 SELECT v FROM t", "2 BEGIN IMMEDIATE", "3 SELECT v FROM t", "2 COMMIT", "1 COMMIT",
	},
	"a writer has reserved the file": {
		"1 BEGIN IMMEDIATE", "2 BEGIN IMMEDIATE", "2 SELECT v FROM t", "2 UPDATE t SET v = 'b'", "1 COMMIT", "2 UPDATE t SET v = 'b'", "1 SELECT v FROM t",
	},
	"a reader prevents the commit of a writer, and the writer keeps new readers out": {
		"1 BEGIN", "1 SELECT v FROM t", "2 BEGIN IMMEDIATE", "2 UPDATE t SET v = 'b'", "2 COMMIT", "3 SELECT v FROM t",
		"1 COMMIT", "2 COMMIT", "3 SELECT v FROM t",
	},
	"two readers want to write": {
		"1 BEGIN", "1 SELECT v FROM t", "2 BEGIN", "2 SELECT v FROM t", "1 UPDATE t SET v = 'b'", "2 UPDATE t SET v = 'c'",
		"1 COMMIT", "2 ROLLBACK", "1 COMMIT", "2 SELECT v FROM t",
	},
	"a connection has exclusive access": {
		"1 BEGIN EXCLUSIVE", "2 SELECT v FROM t", "2 BEGIN", "2 SELECT v FROM t", "1 UPDATE t SET v = 'b'", "1 ROLLBACK", "2 SELECT v FROM t", "2 COMMIT",
	},
	"a transaction is rolled back": {
		"1 BEGIN", "1 UPDATE t SET v = 'b'", "1 SELECT v FROM t", "2 SELECT v FROM t", "1 ROLLBACK", "1 SELECT v FROM t", "2 UPDATE t SET v = 'c'", "1 SELECT v FROM t",
	},
	"a transaction changes many rows": {
		"1 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO t SELECT 'row ' || i FROM n",
		"2 SELECT count(*) FROM t", "2 BEGIN", "2 DELETE FROM t WHERE v LIKE 'row 1%'", "1 SELECT count(*) FROM t", "2 COMMIT", "1 SELECT count(*) FROM t", "1 VACUUM", "2 SELECT count(*) FROM t",
	},
}

// beginning is the SQL that is executed before each script.
const beginning = `CREATE TABLE IF NOT EXISTS t (v TEXT); DELETE FROM t; INSERT INTO t VALUES ('a')`

// play executes a script and returns the results. execute executes a statement on a
// connection.
func play(script []string, execute func(connection int, text string) ([]string, error)) string {
	var results []string
	for _, line := range script {
		number, text, _ := strings.Cut(line, " ")
		rows, err := execute(int(number[0]-'1'), text)
		switch {
		case err != nil && strings.Contains(err.Error(), "SQLITE_BUSY"):
			results = append(results, line+": busy")
		case err != nil:
			results = append(results, line+": "+err.Error())
		default:
			results = append(results, fmt.Sprint(line, ": ", rows))
		}
	}
	return strings.Join(results, "\n")
}

// onDisk returns the results of a script on real files of this machine.
func onDisk(t *testing.T, script []string) string {
	var all []*sql.DB
	for range 3 {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "..", "a.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		db.SetMaxOpenConns(1)
		all = append(all, db)
	}
	if _, err := all[0].Exec(beginning); err != nil {
		t.Fatal(err)
	}
	return play(script, func(i int, text string) ([]string, error) { return sqlite.Rows(t.Context(), all[i], text) })
}

// simulated returns the results of a script on the simulated disk of a world.
func simulated(t *testing.T, script []string) (results string) {
	cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		env := *p.Env()
		env.Options.Without = []string{"busy-timeout"}
		var all []*sqlite.Session
		for range 3 {
			s, err := sqlite.Open(&env, "a.db", "")
			if err != nil {
				return err
			}
			all = append(all, s)
		}
		if _, err := all[0].Exec(ctx, beginning); err != nil {
			return err
		}
		results = play(script, func(i int, text string) ([]string, error) { return all[i].Exec(ctx, text) })
		return nil
	}))
	cfg.Nodes = Nodes(locks.SQLite, 1)
	RunWorld(t, cfg)
	return results
}

// TestFidelity checks that SQLite gives the same results on the simulated disk as on the
// disk of this machine.
func TestFidelity(t *testing.T) {
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			want, got := onDisk(t, script), simulated(t, script)
			Equal(t, "results on the simulated disk", got, want)
			t.Log(want)
		})
	}
}
