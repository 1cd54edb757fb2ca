//go:build linux

package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// pausedHolder is a scenario with a variant in which the holder of the lock is paused for
// longer than its lease, and one in which it is not.
const pausedHolder = `title: A holder is paused, or not
lock: {kind: single, ttl: 10s, nodes: 1}
clients:
  client-1: {}
  client-2: {starts: client-1's keys expired or client-1 released}
variants:
  paused:
    faults:
      - {before: client-1 write, pause: client-1, until: client-2 released}
    expect:
      off: {verdict: unsafe, violated: [section-exclusion, grant-order, write-order, no-lost-update, serial-sections]}
      on: {verdict: safe, violated: [section-exclusion]}
  not-paused:
    expect:
      off: {verdict: safe, violated: []}
      on: {verdict: safe, violated: []}
`

// requireRedis skips a test that plays a scenario if there is no Redis server, unless there
// must be one.
func requireRedis(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes seconds of real time")
	}
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("LOCKSIM_REQUIRE_REDIS") != "" {
			t.Fatal(err)
		}
		t.Skip("there is no redis-server")
	}
}

// realityCommandFor returns a command that plays a scenario. Its temporary files, and those
// of all that it starts, are in a folder of its own, by which they are recognised.
func realityCommandFor(t *testing.T, args ...string) (cmd *exec.Cmd, folder string) {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "reality") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	file := filepath.Join(folder, "paused-holder.yaml")
	if err := os.WriteFile(file, []byte(pausedHolder), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command("locksim", append([]string{"reality", file}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+folder)
	return cmd, folder
}

// A pause that outlasts the lease damages the data of a real storage without fencing, and
// without the pause nothing is damaged. Nothing is left behind.
func TestRealityOfAPause(t *testing.T) {
	requireRedis(t)
	cmd, folder := realityCommandFor(t, "--ttl", "1s", "--format", "json")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var report struct {
		Results []struct {
			AsExpected bool `json:"as_expected"`
			Runs       []struct {
				Variant, Fencing, Verdict string
				Doubts                    []string
			}
			Replay string
		}
	}
	if jsonErr := json.Unmarshal(stdout.Bytes(), &report); jsonErr != nil || len(report.Results) != 1 {
		t.Fatalf("locksim ended with %v, and its report is %.500s\n%s", err, stdout.Bytes(), stderr.Bytes())
	}
	got := ""
	for _, run := range report.Results[0].Runs {
		got += fmt.Sprintln(run.Variant, run.Fencing, run.Verdict)
	}
	const want = "paused off unsafe\npaused on safe\nnot-paused off safe\nnot-paused on safe\n"
	if got != want || !report.Results[0].AsExpected {
		t.Errorf("the verdicts are\n%swant\n%s%s", got, want, stderr.Bytes())
	}
	if left := leftBehind(folder); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// When locksim is killed, all that it has started is ended, and its folder is removed.
func TestRealityIsCleanedUpAfterAKill(t *testing.T) {
	requireRedis(t)
	cmd, folder := realityCommandFor(t, "--variant", "paused", "--ttl", "20s")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, &stderr, "the server, the storage and both clients run, one of them stopped", func() bool {
		left := leftBehind(folder)
		return strings.Contains(left, "redis-server") && strings.Contains(left, "reality-storage") && strings.Count(left, "reality-client") == 2 && strings.Contains(left, "(stopped)")
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	await(t, &stderr, "nothing is left behind", func() bool { return leftBehind(folder) == "" })
}

// await waits until the function is returns true. what says in words what it waits for.
func await(t *testing.T, stderr *bytes.Buffer, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after 20 s it is not the case that %s\n%s", what, stderr)
		}
	}
}

// leftBehind lists the processes that have a folder as their TMPDIR or in their command line,
// and the folders of runs in it.
func leftBehind(folder string) string {
	var left []string
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range all {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		environ, err := os.ReadFile(name)
		words, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline")) // redis-server overwrites its environment
		if err != nil || pid == os.Getpid() || !bytes.Contains(environ, []byte("TMPDIR="+folder)) && !bytes.Contains(words, []byte(folder)) {
			continue
		}
		stat, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "stat"))
		text := strings.ReplaceAll(string(words), "\x00", " ")
		if bytes.Contains(stat, []byte(") T ")) {
			text += "(stopped)"
		}
		left = append(left, text)
	}
	runs, _ := filepath.Glob(filepath.Join(folder, "locksim-reality-*"))
	return strings.Join(append(left, runs...), "\n")
}
