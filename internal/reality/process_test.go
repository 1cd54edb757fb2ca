//go:build unix

package reality

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What a program has written before it ends can be read afterwards.
func TestLastWordsOfAProgram(t *testing.T) {
	c, _, stdout, err := guardOf(t, "").startProgram(exec.Command("sh", "-c", "echo the last answer"))
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // it has ended
	if got, err := io.ReadAll(stdout); err != nil || string(got) != "the last answer\n" {
		t.Errorf("its output is %q, %v", got, err)
	}
	<-c.exited
}

// A process that has left the group of a child, and has its standard error, does not keep
// the child from being ended.
func TestKillOfAChildWithAnOutsider(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil || testing.Short() {
		t.Skip("there is no setsid, or the test must be short")
	}
	c, err := guardOf(t, "").start(exec.Command("sh", "-c", "setsid sleep 6 & sleep 60"))
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // the outsider has left
	began := time.Now()
	c.kill()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the end of the child took %v", took)
	}
}

// A child that the guard cannot watch is ended, and the error says why.
func TestChildWithoutAGuard(t *testing.T) {
	g := guardOf(t, "")
	g.close()
	began := time.Now()
	if c, err := g.start(exec.Command("sleep", "10")); err == nil {
		c.kill()
		t.Error("the child was started, although the guard has ended")
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the child was left for %v", took)
	}
}

// If a server ends at once, the error contains what the server wrote to its standard output.
// The error about a path that is too long for a socket names the path.
func TestReasonOfAServer(t *testing.T) {
	c, err := guardOf(t, "").startServer(exec.Command("sh", "-c", "echo the disk is full"))
	if err != nil {
		t.Fatal(err)
	}
	<-c.exited
	if got := c.lastWords(); got != ": the disk is full" {
		t.Errorf("its last words are %q", got)
	}
	if err := checkSocket("/" + strings.Repeat("x", 103)); err == nil || !strings.Contains(err.Error(), "set TMPDIR to a shorter path") {
		t.Errorf("the error is %v", err)
	}
}

// A parent that not everybody may enter is found.
func TestClosedParent(t *testing.T) {
	closed := filepath.Join(t.TempDir(), "closed")
	run := filepath.Join(closed, "run")
	if err := os.MkdirAll(run, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := findClosedParent(run); got != closed {
		t.Errorf("the closed parent is %q, want %q", got, closed)
	}
}

// The guard removes what libfaketime leaves behind when a process is killed.
func TestGuardRemovesClocks(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	left := fmt.Sprintf("/dev/shm/faketime_shm_%d", ended.Process.Pid)
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Skip(err)
	}
	defer os.Remove(left)
	Guard(strings.NewReader(fmt.Sprintf("watch %[1]d\nforget %[1]d\n", ended.Process.Pid)))
	if _, err := os.Stat(left); err == nil {
		t.Errorf("%s is left behind", left)
	}
}
