package sqlite_test

import (
	"bufio"
	"context"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/libraries/sqlite"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// FuzzMessages checks that the node answers any bytes that a process writes. Afterwards,
// SQLite must work or return an error.
func FuzzMessages(f *testing.F) {
	const opened = `{"op":"open","name":"locks.db","knows":0}` + "\n"
	for _, s := range []string{
		"", "\n", "{}\n", "GET / HTTP/1.0\r\n\r\n", opened,
		opened + `{"op":"lock","level":1,"knows":1}` + "\n" + `{"op":"lock","level":2}` + "\n" + `{"op":"lock","level":4}` + "\n" + `{"op":"unlock","level":0}` + "\n",
		opened + `{"op":"sync","changes":[{"file":"","at":0,"size":4}]}` + "\nabcd" + `{"op":"delete","file":"-journal"}` + "\n",
		opened + `{"op":"sync","changes":[{"file":"-journal","at":-1},{"file":"","at":5},{"file":"","at":1048577}]}` + "\n",
		`{"op":"sync","changes":[{"file":"","at":0,"size":99999999}]}` + "\n", `{"op":"reserved"}` + "\n", `{"op":"lock","level":9}` + "\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			c, err := Dial(ctx, p, 0)
			if err != nil {
				return err
			}
			_ = c.SetDeadline(time.Now().Add(time.Second))
			_, _ = c.Write(b)
			_, _ = bufio.NewReader(c).ReadBytes('\n')
			_ = c.Close()
			time.Sleep(time.Second)
			s, err := sqlite.Open(p.Env(), "locks.db", "")
			if err == nil {
				_, _ = s.Exec(ctx, `CREATE TABLE IF NOT EXISTS locks (name TEXT PRIMARY KEY, holder TEXT NOT NULL, expires_at INTEGER NOT NULL)`)
			}
			return err
		}))
		cfg.Nodes = Nodes(locks.SQLite, 1)
		RunWorld(t, cfg)
	})
}
