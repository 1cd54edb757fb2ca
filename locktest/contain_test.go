package locktest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// misbehaviour is the environment variable that says what the lock of [TestMisbehaving]
// does wrong.
const misbehaviour = "LOCKTEST_MISBEHAVIOUR"

// misbehaving is a lock whose acquire does something that no lock should do, such as a
// panic.
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
	"sleeps-for-ever": func(context.Context) {
		for {
			time.Sleep(time.Second)
		}
	},
	"leaks":  func(context.Context) { go func() { select {} }() },
	"prints": func(context.Context) { fmt.Print("so far so good") },
}

// TestMisbehaving is run by [TestContainment], in a process of its own: it is meant to
// fail.
func TestMisbehaving(t *testing.T) {
	do := os.Getenv(misbehaviour)
	if do == "" {
		t.Skip("it is run by TestContainment")
	}
	single := constructorOf(t, "single")
	config := locktest.Config{Name: "broken"}
	if do == "computes-for-ever" {
		config.Patience = 2 * time.Second // a longer wait shows nothing more
	}
	locktest.Run(t, config, func(env *locktest.Env) (locks.Lock, error) {
		if do == "cannot-be-made" {
			return nil, errors.New("no lock today")
		}
		lock, err := single(env)
		return misbehaving{lock, misbehaviours[do]}, err
	})
}

// A run or a search stops soon if a call of the lock never returns, whether or not the call
// sleeps meanwhile. The report has only this mistake, the command that replays it, and the
// number of test cases that were left out.
func TestHangEndsRunAndSearch(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, does := range []string{"waits-for-ever", "sleeps-for-ever"} {
		for test, want := range map[string][]string{
			"TestMisbehaving":         {"broken: 1 mistake makes ", "not run: 5", "LOCKSIM_REPLAY='claims/lease' go test -run '^TestMisbehaving$'"},
			"TestMisbehavingExplored": {"broken: 1 mistake, in 1 way to break the lock", "LOCKSIM_REPLAY='explore {}' go test -run '^TestMisbehavingExplored$'"},
		} {
			t.Run(does+" "+test, func(t *testing.T) {
				t.Parallel()
				out := misbehave(t, binary, does, "-test.run=^"+test+"$")
				for _, line := range append(want, "1  a call of the lock never returns\n", "client-1 called acquire at ", "remedy: give every wait a context or a timeout\n") {
					if !strings.Contains(out, line) {
						t.Errorf("the output does not contain %q:\n%s", line, out)
					}
				}
			})
		}
	}
}

// handlesFile is the environment variable that names a file. In that file
// [TestMisbehavingExplored] counts the handles on the lock that all its processes have
// made.
const handlesFile = "LOCKTEST_HANDLES"

// TestMisbehavingExplored is run by [TestContainmentOfSearches], in a process of its own:
// it is meant to fail.
func TestMisbehavingExplored(t *testing.T) {
	do := misbehaviours[os.Getenv(misbehaviour)]
	if do == nil {
		t.Skip("it is run by TestContainmentOfSearches")
	}
	single := constructorOf(t, "single")
	locktest.Explore(t, locktest.Config{Name: "broken", Patience: 2 * time.Second}, func(env *locktest.Env) (locks.Lock, error) {
		lock, err := single(env)
		if count := os.Getenv(handlesFile); count != "" && countHandle(t, count) <= soundHandles {
			return lock, err
		}
		return misbehaving{lock, do}, err
	}, locktest.Exploration{MaxFaults: 1})
}

// soundHandles is how many handles on the lock are made before an exploration records where
// faults can strike, for which it runs its first workload once more. One handle is for
// measuring the lock's timeouts. Two clients have one handle each for measuring how long
// another client waits for a crashed holder, and one each for the first run of the
// workload.
const soundHandles = 5

// countHandle counts one more handle, and returns how many there are now in all processes.
func countHandle(t *testing.T, file string) int64 {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.WriteString("x")
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// A lock may misbehave in a workload without any fault. Then the search reports that as a
// way to break the lock, and ends. It does so even if the lock misbehaves only when the
// workload runs once more, to record where faults can strike.
func TestContainmentOfSearches(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs ten searches in processes of their own")
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for does, want := range map[string]string{
		"panics":                "panic in client-1: oh no\n",
		"panics-in-a-goroutine": "the process that ran it died: panic: oh no, elsewhere\n",
		"exits":                 "the process that ran it died: exit status 7\n",
		"computes-for-ever":     "the world is stuck: it made no progress for 1s of real time",
		"leaks":                 "goroutines outlived the world: ",
	} {
		// count is the file that counts handles, with which the lock misbehaves only after
		// soundHandles handles.
		for when, count := range map[string]string{"in every run": "", "from the recorded run on": t.TempDir() + "/handles"} {
			t.Run(does+" "+when, func(t *testing.T) {
				t.Parallel()
				out := misbehave(t, binary, does, "-test.run=^TestMisbehavingExplored$", handlesFile+"="+count)
				for _, line := range []string{
					want, "\n           without any fault\n", "--- FAIL: TestMisbehavingExplored ",
				} {
					if !strings.Contains(out, line) {
						t.Errorf("the output does not contain %q:\n%s", line, out)
					}
				}
			})
		}
	}
}

// TestDeadlyExplored is run by [TestOnlyWorkersRunTheLock], in a process of its own: it is
// meant to fail.
func TestDeadlyExplored(t *testing.T) {
	if os.Getenv(misbehaviour) == "" {
		t.Skip("it is run by TestOnlyWorkersRunTheLock")
	}
	plainDel := constructorOf(t, "single-plain-del")
	locktest.Explore(t, locktest.Config{Name: "broken"}, func(env *locktest.Env) (locks.Lock, error) {
		if os.Getenv("LOCKSIM_WORKER") == "" {
			go panic("outside of the workers")
		}
		return plainDel(env)
	}, locktest.Exploration{MaxFaults: 1})
}

// Only worker processes run the lock. This lock ends every process in which it runs. It is
// explored to the end nevertheless, and each way to break it shows what happened.
func TestOnlyWorkersRunTheLock(t *testing.T) {
	if testing.Short() {
		t.Skip("the test starts a process for each world of a search")
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := misbehave(t, binary, "panics", "-test.run=^TestDeadlyExplored$")
	for _, line := range []string{
		"removes the key of another acquisition", "\n           fault: {", "client-1  removes client-2's key on redis-1", "--- FAIL: TestDeadlyExplored ",
	} {
		if !strings.Contains(out, line) {
			t.Errorf("the output does not contain %q:\n%s", line, out)
		}
	}
}

// A lock that misbehaves fails the subtest in which it does so, and no other subtest. The
// report at the end has the reason, and a replay line for each of the subtests.
func TestContainment(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for does, want := range map[string]string{
		"panics":                `panic in client-1: oh no\n`,
		"panics-in-a-goroutine": `the process that ran it died: panic: oh no, elsewhere\n`,
		"exits":                 `the process that ran it died: exit status 7\n`,
		"computes-for-ever":     `the world is stuck: it made no progress for 1s of real time`,
		"waits-for-ever":        `client-1 called acquire at 0s and still waited at `,
		"leaks":                 `goroutines outlived the world: `,
		"cannot-be-made":        `client-1: cannot make the lock: no lock today\n`,
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
						t.Errorf("%s: the output does not match %q:\n%s", story, line, out)
					}
				}
			}
			if n := strings.Count(out, "replay: "); n != 2 {
				t.Errorf("%d replay lines, want one for each of the two test cases:\n%s", n, out)
			}
		})
	}
	t.Run("prints", func(t *testing.T) {
		t.Parallel()
		out := misbehave(t, binary, "prints", "-test.run=^TestMisbehaving$/^catalogue$/^no-faults$", "-test.v")
		if !strings.Contains(out, "the lock printed:") || !strings.Contains(out, "so far so good") || !strings.Contains(out, "\nPASS\n") {
			t.Errorf("the output does not show what the lock printed, or the test fails because of that:\n%s", out)
		}
	})
	t.Run("writes an attribute", func(t *testing.T) {
		t.Parallel()
		out := misbehave(t, binary, "cannot-be-made", "-test.run=^TestMisbehaving$/^catalogue$/^no-faults$", "-test.v=test2json")
		_, text, _ := strings.Cut(out, "=== ATTR  TestMisbehaving/catalogue/no-faults "+locktest.AttrFinding+" ")
		text, _, _ = strings.Cut(text, "\n")
		var f locktest.Finding
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			t.Fatalf("the attribute is %q: %v, in\n%s", text, err, out)
		}
		if f.TestCase != "catalogue/no-faults" || f.Failed == 0 || len(f.Problems) != 1 {
			t.Fatalf("the finding is %+v, want a failure of catalogue/no-faults with one problem", f)
		}
		want := locktest.Problem{
			Rule: "cannot be made", Why: f.Problems[0].Why, Mistake: "the lock cannot be constructed", Seed: 1, Replay: "catalogue/no-faults/fencing-off",
			Command: "LOCKSIM_REPLAY='catalogue/no-faults/fencing-off' go test -run '^TestMisbehaving$'",
		}
		if got := f.Problems[0]; got != want || !strings.Contains(got.Why, "no lock today") {
			t.Errorf("the problem is %+v, want %+v", got, want)
		}
	})
}

// misbehave runs TestMisbehaving or TestMisbehavingExplored in a process of its own, and
// returns what it printed. args are flags, which begin with "-", and settings of
// environment variables.
func misbehave(t *testing.T, binary, misbehaviourName string, args ...string) string {
	t.Helper()
	variables := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg[0] == '-' })
	flags := slices.DeleteFunc(args, func(arg string) bool { return arg[0] != '-' })
	cmd := exec.CommandContext(t.Context(), binary, flags...)
	cmd.Env = append(append(os.Environ(), misbehaviour+"="+misbehaviourName), variables...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out)
}

// The command that a failing test prints runs that world again, in the test's own process,
// and shows its whole timeline.
func TestReplay(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("LOCKSIM_REPLAY", "catalogue/no-faults/fencing-off seed 3")
	out := misbehave(t, binary, "leaks", "-test.run=^TestMisbehaving$")
	for _, line := range []string{"gets the lock on redis-1", "goroutine leak: ", "--- FAIL: TestMisbehaving/catalogue/no-faults "} {
		if !strings.Contains(out, line) {
			t.Errorf("the output does not contain %q:\n%s", line, out)
		}
	}
	t.Setenv("LOCKSIM_REPLAY", "explore {}")
	out = misbehave(t, binary, "leaks", "-test.run=^TestMisbehaving$")
	if want := "has a world of locktest.Explore, which this test does not call"; !strings.Contains(out, want) || !strings.Contains(out, "FAIL") {
		t.Errorf("the output does not contain %q:\n%s", want, out)
	}
	t.Setenv("LOCKSIM_REPLAY", "catalogue/no-faults/fencing")
	out = misbehave(t, binary, "leaks", "-test.run=^TestMisbehaving$")
	if want := `catalogue/no-faults has no world "fencing"; it has fencing-off, fencing-on`; !strings.Contains(out, want) {
		t.Errorf("the output does not contain %q:\n%s", want, out)
	}
}
