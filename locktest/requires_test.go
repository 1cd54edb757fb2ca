package locktest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever adds locktest to a module tests the version of a lock library that they have,
// and not the one that our adapters are made for.
func TestALibraryKeepsItsVersion(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a module")
	}
	clone, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": `module example.com/theirs

go 1.26.0

require github.com/go-redsync/redsync/v4 v4.13.0
`,
		"lock_test.go": `package theirs

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
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("mod", "edit", "-require=github.com/locksim/locksim@v0.1.0", "-replace=github.com/locksim/locksim="+clone)
	out := run("test", "-count=1", "-v", "-run", "^TestTheirs$/^catalogue$/^no-faults$", ".")
	if !strings.Contains(out, "--- PASS: TestTheirs/catalogue/no-faults") {
		t.Errorf("its test did not run:\n%s", out)
	}
	if got, want := strings.TrimSpace(run("list", "-m", "github.com/go-redsync/redsync/v4")), "github.com/go-redsync/redsync/v4 v4.13.0"; got != want {
		t.Errorf("it now has %s, want %s", got, want)
	}
	all := run("list", "-m", "all")
	for _, module := range []string{"bsm/redislock", "chromedp/chromedp", "spf13/cobra", "rogpeppe/go-internal", "olekukonko/tablewriter", "invopop/jsonschema", "santhosh-tekuri/jsonschema/v6"} {
		if strings.Contains(all, "github.com/"+module+" ") {
			t.Errorf("it requires %s by locksim", module)
		}
	}
}
