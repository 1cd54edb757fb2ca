package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// userTest is a user's test of a library's lock.
const userTest = `package theirs

import (
	"context"
	"testing"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

type lock struct {
	rs  *redsync.Redsync
	env *locktest.Env
}

func (l lock) Acquire(ctx context.Context) (locks.Lease, error) {
	m := l.rs.NewMutex(l.env.Key(), redsync.WithExpiry(l.env.TTL()), redsync.WithTries(1))
	if err := m.LockContext(ctx); err != nil {
		return nil, locks.ErrNotAcquired
	}
	return lease{m}, nil
}

type lease struct{ m *redsync.Mutex }

func (l lease) Release(ctx context.Context) error {
	if ok, err := l.m.UnlockContext(ctx); !ok {
		return errOr(err)
	}
	return nil
}

func errOr(err error) error {
	if err == nil {
		return locks.ErrLost
	}
	return err
}

func TestTheirs(t *testing.T) {
	locktest.Run(t, locktest.Config{Nodes: 1}, func(env *locktest.Env) (locks.Lock, error) {
		return lock{redsync.New(goredis.NewPool(env.Redis(0))), env}, nil
	})
}
`

// A user's module that uses locktest keeps its own version of a lock library, even if the
// adapters of locksim require another version. The package locktest adds few other modules.
func TestALibraryKeepsItsVersion(t *testing.T) {
	if testing.Short() {
		t.Skip("this test builds a module")
	}
	s := newUserModule(t, "example.com/theirs")
	if err := os.WriteFile(filepath.Join(s.dir, "lock_test.go"), []byte(userTest), 0o666); err != nil {
		t.Fatal(err)
	}
	const redsync = "github.com/go-redsync/redsync/v4"
	s.runGo(t, "mod", "edit", "-require="+redsync+"@v4.13.0", "-require=github.com/locksim/locksim@"+nextVersion)
	s.runGo(t, "mod", "tidy")
	out := s.runGo(t, "test", "-count=1", "-v", "-run", "^TestTheirs$/^catalogue$/^no-faults$", ".")
	if !strings.Contains(out, "--- PASS: TestTheirs/catalogue/no-faults") {
		t.Errorf("the user's test did not run:\n%s", out)
	}
	if got, want := strings.TrimSpace(s.runGo(t, "list", "-m", redsync)), redsync+" v4.13.0"; got != want {
		t.Errorf("the user's module now requires %s, want %s", got, want)
	}
	mod, err := os.ReadFile(filepath.Join(s.dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(mod), "// indirect"); n > 12 {
		t.Errorf("locktest adds %d indirect modules, want at most 12:\n%s", n, mod)
	}
	all := s.runGo(t, "list", "-m", "all")
	for _, module := range []string{"bsm/redislock", "chromedp/chromedp", "spf13/cobra", "rogpeppe/go-internal", "olekukonko/tablewriter", "invopop/jsonschema", "santhosh-tekuri/jsonschema/v6"} {
		if strings.Contains(all, "github.com/"+module+" ") {
			t.Errorf("the user's module requires %s through locksim", module)
		}
	}
}
