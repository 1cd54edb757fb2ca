//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// require skips a test if a program is not installed, unless the environment says that it
// must be.
func require(t *testing.T, isInstalled bool, program, variable string) {
	t.Helper()
	switch {
	case testing.Short():
		t.Skip("it takes seconds of real time")
	case isInstalled:
	case os.Getenv(variable) != "":
		t.Fatalf("%s is set, and there is no %s", variable, program)
	default:
		t.Skipf("there is no %s", program)
	}
}

// has reports whether a program is in the PATH.
func has(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// verdictsOf plays a scenario and returns the verdict of each run.
func verdictsOf(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("locksim", append([]string{"reality", "--format", "json"}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run() // its status is 1 if a verdict is not as expected
	var report struct {
		Results []struct {
			Runs []struct{ Fencing, Verdict string }
		}
	}
	if jsonErr := json.Unmarshal(stdout.Bytes(), &report); jsonErr != nil || len(report.Results) != 1 {
		t.Fatalf("locksim ended with %v, and its report is %.500q\n%s", err, stdout.Bytes(), stderr.Bytes())
	}
	verdicts := ""
	for _, run := range report.Results[0].Runs {
		verdicts += fmt.Sprintf("%s %s, ", run.Fencing, run.Verdict)
	}
	return verdicts
}

// A pause outlasts a lease in a real PostgreSQL, as it does in the simulated one.
func TestRealityOfPostgres(t *testing.T) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	require(t, len(found) > 0 || has("initdb"), "PostgreSQL", "LOCKSIM_REQUIRE_POSTGRES")
	got := verdictsOf(t, "same-gc-pause", "--lock", "postgres-lease", "--set", "lock.nodes=1", "--ttl", "1s")
	if want := "off unsafe, on safe, "; got != want {
		t.Errorf("the verdicts are %q, want %q", got, want)
	}
}

// The clock of a real PostgreSQL is set, and the row of a lease ends early. A jump that leaves
// enough of the lease does no harm.
func TestRealityOfASetClock(t *testing.T) {
	servers, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	require(t, len(servers) > 0 || has("initdb"), "PostgreSQL", "LOCKSIM_REQUIRE_POSTGRES")
	libraries, _ := filepath.Glob("/usr/lib/*/faketime/libfaketime.so.1")
	require(t, len(libraries) > 0, "libfaketime", "LOCKSIM_REQUIRE_FAKETIME")
	for jump, want := range map[string]string{"11s": "off unsafe, on safe, ", "1s": "off safe, on safe, "} {
		got := verdictsOf(t, "postgres-clock", "--variant", "lease", "--ttl", "2s", "--set", "faults[1].by="+jump)
		if got != want {
			t.Errorf("after a jump by %s of a TTL of 10s the verdicts are %q, want %q", jump, got, want)
		}
	}
}

// pausedHolder is a scenario in which the holder of a lock on one server is paused for longer
// than its session, and a control in which it is not.
const pausedHolder = `title: A holder is paused, or not
lock: {kind: %s, ttl: 2s, nodes: 1}
clients:
  client-1: {}
  client-2: {starts: client-1's session expired or client-1 released}
variants:
  paused:
    faults:
      - {before: client-1 write, pause: client-1, until: client-2 released}
    expect:
      off: {verdict: unsafe, violated: [section-exclusion, grant-order, write-order, no-lost-update, serial-sections]}
  not-paused:
    expect:
      off: {verdict: safe, violated: []}
`

// writePausedHolder writes the scenario with a lock, and returns its file. Temporary files
// of the programs that the test starts are in the same folder.
func writePausedHolder(t *testing.T, lock string) string {
	t.Helper()
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	file := filepath.Join(folder, "paused-holder.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, pausedHolder, lock), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// requireEtcd and requireZooKeeper skip a test where the server is not installed.
func requireEtcd(t *testing.T) {
	t.Helper()
	require(t, has("etcd"), "etcd", "LOCKSIM_REQUIRE_ETCD")
}

func requireZooKeeper(t *testing.T) {
	t.Helper()
	_, err := os.Stat("/usr/share/java/zookeeper.jar")
	require(t, has("java") && (err == nil || os.Getenv("LOCKSIM_ZOOKEEPER_CLASSPATH") != ""), "ZooKeeper", "LOCKSIM_REQUIRE_ZOOKEEPER")
}

// A pause outlasts a session of a real cluster, as it does in the simulated one: without
// fencing, that damages the data. Without the pause nothing is damaged.
func TestRealityOfEtcd(t *testing.T) {
	requireEtcd(t)
	testPausedHolder(t, "etcd")
}

func TestRealityOfZooKeeper(t *testing.T) {
	requireZooKeeper(t)
	testPausedHolder(t, "zookeeper")
}

func testPausedHolder(t *testing.T, lock string) {
	t.Helper()
	got := verdictsOf(t, writePausedHolder(t, lock), "--fencing", "off")
	if want := "off unsafe, off safe, "; got != want {
		t.Errorf("the verdicts with and without a pause are %q, want %q", got, want)
	}
}

// When locksim is killed, the servers of a cluster are ended too.
func TestClustersAreCleanedUpAfterAKill(t *testing.T) {
	for lock, requireServer := range map[string]func(*testing.T){"etcd": requireEtcd, "zookeeper": requireZooKeeper} {
		t.Run(lock, func(t *testing.T) {
			requireServer(t)
			file := writePausedHolder(t, lock)
			folder := filepath.Dir(file)
			cmd := exec.Command("locksim", "reality", file, "--variant", "paused", "--set", "lock.nodes=3")
			var stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stderr, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			await := func(what string, want int) {
				for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
					got := serversIn(folder)
					if len(got) == want {
						return
					}
					if time.Now().After(deadline) {
						t.Fatalf("%s: the servers are %q, want %d\n%s", what, got, want, &stderr)
					}
				}
			}
			await("while a scenario is played", 3)
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			await("after locksim was killed", 0)
		})
	}
}

// serversIn lists the processes whose command line names a folder in this one.
func serversIn(folder string) (found []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range all {
		words, _ := os.ReadFile(name)
		if bytes.Contains(words, []byte(folder+"/locksim-reality-")) {
			found = append(found, string(words))
		}
	}
	return found
}

// debianPython is the Python that finds Debian's packages.
const debianPython = "/usr/bin/python3"

// A client of the Python package kazoo that is cut off from ZooKeeper gives its lock up, and
// a mutant of its program that ignores the state of the connection does not.
func TestRealityOfKazoo(t *testing.T) {
	requireZooKeeper(t)
	require(t, exec.Command(debianPython, "-c", "import kazoo").Run() == nil, "package kazoo of Python", "LOCKSIM_REQUIRE_KAZOO")
	const folder = "../../libraries/other-languages/"
	program, err := os.ReadFile(folder + "kazoo_lock.py")
	if err != nil {
		t.Fatal(err)
	}
	const heeds = "state != KazooState.CONNECTED and section in leases"
	mutant := filepath.Join(t.TempDir(), "mutant.py")
	if err := os.WriteFile(mutant, bytes.Replace(program, []byte(heeds), []byte("False"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{folder + "kazoo_lock.py": "off safe, ", mutant: "off unsafe, "} {
		got := verdictsOf(t, folder+"cut-off.yaml", "--ttl", "2s", "--fencing", "off", "--client", debianPython+" "+file)
		if got != want {
			t.Errorf("%s: the verdict is %q, want %q", filepath.Base(file), got, want)
		}
	}
}

// The answer to an acquire is later than the end of the lease. The example in Python refuses the
// grant, and so does redlock of npm. With two other packages of npm and with redis-py, two clients
// are in their sections at the same time.
func TestRealityInOtherLanguages(t *testing.T) {
	require(t, has("redis-server"), "redis-server", "LOCKSIM_REQUIRE_REDIS")
	const folder = "../../libraries/other-languages/"
	play := func(t *testing.T, command, want string) {
		got := verdictsOf(t, folder+"late-answer.yaml", "--ttl", "1s", "--fencing", "off", "--client", command)
		if got != want {
			t.Errorf("the verdict is %q, want %q", got, want)
		}
	}
	t.Run("example.py", func(t *testing.T) {
		require(t, has("python3"), "python3", "LOCKSIM_REQUIRE_PYTHON")
		play(t, "python3 "+folder+"example.py", "off safe, ")
	})
	t.Run("redis_py_lock.py", func(t *testing.T) {
		require(t, exec.Command(debianPython, "-c", "import redis").Run() == nil, "package redis of Python", "LOCKSIM_REQUIRE_REDIS_PY")
		play(t, debianPython+" "+folder+"redis_py_lock.py", "off unsafe, ")
	})
	for program, want := range map[string]string{
		"redlock.js":           "off safe, ",
		"redis-semaphore.js":   "off unsafe, ",
		"redlock-universal.js": "off unsafe, ",
	} {
		t.Run(program, func(t *testing.T) {
			// LOCKSIM_NPM is a folder node_modules with the packages.
			modules := os.Getenv("LOCKSIM_NPM")
			require(t, has("node") && modules != "", "folder of npm packages", "LOCKSIM_NPM")
			t.Setenv("NODE_PATH", modules)
			play(t, "node "+folder+program, want)
		})
	}
}

// The clock of a client in Python or Node is set back by the TTL while the answer to its acquire is
// late. Its lock measures by the wall clock, and believes in a lease that has ended. A jump by a
// millisecond does no harm.
func TestRealityOfASetClientClock(t *testing.T) {
	require(t, has("redis-server"), "redis-server", "LOCKSIM_REQUIRE_REDIS")
	libraries, _ := filepath.Glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
	require(t, len(libraries) > 0, "libfaketime", "LOCKSIM_REQUIRE_FAKETIME")
	const folder = "../../libraries/other-languages/"
	play := func(t *testing.T, command string) {
		for jump, want := range map[string]string{"-10s": "off unsafe, ", "-1ms": "off safe, "} {
			got := verdictsOf(t, folder+"clock-set-back.yaml", "--ttl", "1s", "--fencing", "off", "--set", "faults[2].by="+jump, "--client", command)
			if got != want {
				t.Errorf("after a jump by %s of a TTL of 10s the verdict is %q, want %q", jump, got, want)
			}
		}
	}
	t.Run("example.py", func(t *testing.T) {
		require(t, has("python3"), "python3", "LOCKSIM_REQUIRE_PYTHON")
		play(t, "python3 "+folder+"example.py")
	})
	t.Run("redlock.js", func(t *testing.T) {
		modules := os.Getenv("LOCKSIM_NPM")
		require(t, has("node") && modules != "", "folder of npm packages", "LOCKSIM_NPM")
		t.Setenv("NODE_PATH", modules)
		play(t, "node "+folder+"redlock.js")
	})
}

// A sweep describes each mistake of a lock once, although several faults show it. It finds
// nothing in a lock that compares the value of its key.
func TestSweepDescribesEachMistakeOnce(t *testing.T) {
	require(t, has("redis-server"), "redis-server", "LOCKSIM_REQUIRE_REDIS")
	const mistake = "release removes the key of another acquisition, because it compares nothing"
	for lock, want := range map[string]int{"single": 0, "single-plain-del": 1} {
		cmd := exec.Command("locksim", "reality", "../../libraries/other-languages/two-clients.yaml", "--ttl", "1s", "--sweep", "--lock", lock)
		out, err := cmd.Output()
		failures, described := strings.Count(string(out), "\n✗ "), strings.Count(string(out), mistake)
		if described != want || failures < 2*want || cmd.ProcessState.ExitCode() != want {
			t.Errorf("the sweep of %s ended with %v, and it says %d times that %q; want %d times\n%s", lock, err, described, mistake, want, out)
		}
	}
}
