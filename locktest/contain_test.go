package locktest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// misbehaviour is what [TestMisbehaving] is told to do.
const misbehaviour = "LOCKTEST_MISBEHAVIOUR"

// misbehaving is a lock that does something no lock should when it is asked for.
type misbehaving struct {
	locks.Lock
	do func(ctx context.Context)
}

func (m misbehaving) Acquire(ctx context.Context) (locks.Lease, error) {
	m.do(ctx)
	return m.Lock.Acquire(ctx)
}

var misbehaviours = map[string]func(ctx context.Context){
	"panics":                func(context.Context) { panic("oh no") },
	"panics-in-a-goroutine": func(context.Context) { go panic("oh no, elsewhere") },
	"exits":                 func(context.Context) { os.Exit(7) },
	"computes-for-ever": func(context.Context) {
		for n := 0; ; n++ {
			_ = n
		}
	},
	"waits-for-ever": func(context.Context) { <-make(chan int) },
	"leaks":          func(context.Context) { go func() { select {} }() },
	"prints":         func(context.Context) { fmt.Print("so far so good") },
}

// TestMisbehaving is run by [TestContainment], in a process of its own: it is meant
// to fail.
func TestMisbehaving(t *testing.T) {
	do := os.Getenv(misbehaviour)
	if do == "" {
		t.Skip("it is run by TestContainment")
	}
	single := kind(t, "single")
	config := locktest.Config{Name: "broken"}
	if do == "computes-for-ever" {
		config.Patience = 2 * time.Second // nobody has to wait longer to be sure
	}
	locktest.Run(t, config, func(env *locktest.Env) (locks.Lock, error) {
		if do == "cannot-be-made" {
			return nil, errors.New("no lock today")
		}
		lock, err := single(env)
		return misbehaving{lock, misbehaviours[do]}, err
	})
}

// Whatever a lock does, it fails the subtest that it did it in, with the reason and
// the line that replays it, and no other.
func TestContainment(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for does, want := range map[string]string{
		"panics":                `panic: panic in client-1: oh no\n`,
		"panics-in-a-goroutine": `panic: the process that ran it died: panic: oh no, elsewhere\n`,
		"exits":                 `panic: the process that ran it died: exit status 7\n`,
		"computes-for-ever":     `hang: the world is stuck: nothing moved for 1s of real time`,
		"waits-for-ever":        `hang: client-1 called acquire at 0s and still waited at `,
		"leaks":                 `goroutine leak: goroutines outlived the world: `,
		"cannot-be-made":        `cannot be made: client-1: cannot make the lock: no lock today\n`,
	} {
		t.Run(does, func(t *testing.T) {
			t.Parallel()
			out := misbehave(t, binary, does, "-test.run=^TestMisbehaving$/^catalogue$/^(no-faults|token-gap)$")
			for _, story := range []string{"no-faults", "token-gap"} {
				for _, line := range []string{
					want,
					"LOCKSIM_REPLAY='catalogue/" + story + "/fencing-off' go test -run '\\^TestMisbehaving\\$'\n",
					"--- FAIL: TestMisbehaving/catalogue/" + story + " ",
				} {
					if !regexp.MustCompile(line).MatchString(out) {
						t.Errorf("%s: %q is not in\n%s", story, line, out)
					}
				}
			}
			if n := strings.Count(out, "replay: "); n != 2 {
				t.Errorf("%d replay lines, want one for each of the two stories:\n%s", n, out)
			}
		})
	}
	t.Run("prints", func(t *testing.T) {
		t.Parallel()
		out := misbehave(t, binary, "prints", "-test.run=^TestMisbehaving$/^catalogue$/^no-faults$", "-test.v")
		if !strings.Contains(out, "the lock printed:") || !strings.Contains(out, "so far so good") || !strings.Contains(out, "\nPASS\n") {
			t.Errorf("what the lock printed is not there, or it fails for that:\n%s", out)
		}
	})
	t.Run("tells programs", func(t *testing.T) {
		t.Parallel()
		out := misbehave(t, binary, "cannot-be-made", "-test.run=^TestMisbehaving$/^catalogue$/^no-faults$", "-test.v")
		_, text, _ := strings.Cut(out, "=== ATTR  TestMisbehaving/catalogue/no-faults "+locktest.AttrFinding+" ")
		text, _, _ = strings.Cut(text, "\n")
		var f locktest.Finding
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			t.Fatalf("the attribute is %q: %v, in\n%s", text, err, out)
		}
		if f.Story != "catalogue/no-faults" || f.Failed == 0 || len(f.Problems) != 1 {
			t.Fatalf("the finding is %+v", f)
		}
		want := locktest.Problem{
			Rule: "cannot be made", Why: f.Problems[0].Why, Seed: 1, Replay: "catalogue/no-faults/fencing-off",
			Command: "LOCKSIM_REPLAY='catalogue/no-faults/fencing-off' go test -run '^TestMisbehaving$'",
		}
		if got := f.Problems[0]; got != want || !strings.Contains(got.Why, "no lock today") {
			t.Errorf("the problem is %+v, want %+v", got, want)
		}
	})
}

// misbehave runs TestMisbehaving and returns what it printed.
func misbehave(t *testing.T, binary, does string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = append(os.Environ(), misbehaviour+"="+does)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out)
}

// A replay line runs the world it names, in the test's own process, and shows its
// whole timeline.
func TestReplay(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("LOCKSIM_REPLAY", "catalogue/no-faults/fencing-off seed 3")
	out := misbehave(t, binary, "leaks", "-test.run=^TestMisbehaving$")
	for _, line := range []string{"gets the lock on redis-1", "goroutine leak: ", "--- FAIL: TestMisbehaving/catalogue/no-faults "} {
		if !strings.Contains(out, line) {
			t.Errorf("%q is not in\n%s", line, out)
		}
	}
	t.Setenv("LOCKSIM_REPLAY", "catalogue/no-faults/fencing")
	out = misbehave(t, binary, "leaks", "-test.run=^TestMisbehaving$")
	if want := `catalogue/no-faults has no world "fencing"; it has fencing-off, fencing-on`; !strings.Contains(out, want) {
		t.Errorf("%q is not in\n%s", want, out)
	}
}
