//go:build unix

package command

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// twoClients is a scenario whose runs take little time.
const twoClients = `title: Two clients at work
lock: {kind: single, ttl: 10s}
clients:
  client-1: {works: 2s, gives-up: 3s, cancels-after: 5s, retry-every: 1s}
  client-2: {starts: 1s after the start, works: 1s, gives-up: 3s, cancels-after: 5s, retry-every: 1s}
horizon: 1m
progress-within: 30s
`

// A searchProcess is a search in a process group of its own, as a terminal would start it.
type searchProcess struct {
	*exec.Cmd
	t      *testing.T
	dir    string
	args   []string
	stdout bytes.Buffer
	stderr safeBuffer
	// patience is the value of --timeout. It is in the command line of the workers, so it
	// identifies the workers of this search.
	patience string
	ended    chan struct{}
}

// A safeBuffer collects the output of a process that is still running.
type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *safeBuffer) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(b)
}

func (h *safeBuffer) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// startSearch starts a search of twoClients, with a ledger and two jobs. patience must be a
// value of --timeout that no other test uses, because it identifies the workers.
func startSearch(t *testing.T, patience string, args ...string) *searchProcess {
	t.Helper()
	if testing.Short() {
		t.Skip("this test runs thousands of worlds")
	}
	h := &searchProcess{t: t, dir: t.TempDir(), patience: patience}
	if err := os.WriteFile(filepath.Join(h.dir, "two.yaml"), []byte(twoClients), 0o666); err != nil {
		t.Fatal(err)
	}
	h.args = append([]string{"explore", "two.yaml", "--jobs", "2", "--timeout", patience}, args...)
	h.start("--ledger", "ledger")
	t.Cleanup(func() { syscall.Kill(-h.Process.Pid, syscall.SIGKILL) })
	return h
}

// start starts the search, with further arguments.
func (h *searchProcess) start(more ...string) {
	h.t.Helper()
	h.Cmd = exec.Command("locksim", append(slices.Clone(h.args), more...)...)
	h.Dir, h.Stdout, h.Stderr = h.dir, &h.stdout, &h.stderr
	h.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := h.Start(); err != nil {
		h.t.Fatal(err)
	}
	ended := make(chan struct{})
	h.ended = ended
	go func() {
		h.Wait()
		close(ended)
	}()
}

// waitForLines waits until the ledger has this many lines.
func (h *searchProcess) waitForLines(lines int) {
	h.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		ledger, _ := os.ReadFile(filepath.Join(h.dir, "ledger"))
		if bytes.Count(ledger, []byte("\n")) >= lines {
			return
		}
		select {
		case <-h.ended:
			h.t.Fatalf("the search ended before its ledger had %d lines: %v\n%s", lines, h.ProcessState, &h.stderr)
		default:
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("after two minutes the ledger has fewer than %d lines", lines)
		}
	}
}

// waitForText waits until standard error contains a text.
func (h *searchProcess) waitForText(text string) {
	h.t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(h.stderr.String(), text); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Fatalf("after a minute standard error does not contain %q: %q", text, h.stderr.String())
		}
	}
}

// waitForEnd waits for the end of the search and returns its exit status.
func (h *searchProcess) waitForEnd(patience time.Duration) int {
	h.t.Helper()
	select {
	case <-h.ended:
	case <-time.After(patience):
		h.t.Fatalf("the search is still running after %v", patience)
	}
	return h.ProcessState.ExitCode()
}

// workers returns the process IDs of the workers. Without /proc it finds none.
func (h *searchProcess) workers() []int {
	var pids []int
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range all {
		line, _ := os.ReadFile(name)
		if strings.Contains(string(line), exploreWorker+"\x00"+h.patience+"\x00") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// checkNoOrphans waits until the workers have ended, and fails the test if some do not end.
func (h *searchProcess) checkNoOrphans() {
	h.t.Helper()
	for range 100 {
		if len(h.workers()) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	h.t.Errorf("after five seconds these workers are still running: %v", h.workers())
}

// An interrupt ends an input that somebody types, and no later read waits.
func TestInterruptEndsAnInput(t *testing.T) {
	silent, write := io.Pipe()
	defer write.Close()
	in := newInterruptibleInput(silent)
	defer in.stop()
	go write.Write([]byte("b 3\n"))
	line := make([]byte, 10)
	if n, err := in.Read(line); err != nil || string(line[:n]) != "b 3\n" || in.isInterrupted() {
		t.Fatalf("the input is %q, %v", line[:n], err)
	}
	syscall.Kill(os.Getpid(), syscall.SIGINT)
	for range 2 {
		if n, err := in.Read(line); n != 0 || err != io.EOF || !in.isInterrupted() {
			t.Errorf("after an interrupt, %d bytes are read: %v", n, err)
		}
	}
}

func TestInterrupt(t *testing.T) {
	for _, c := range []struct {
		name     string
		patience string // see startSearch
		signal   syscall.Signal
		group    bool // whether the workers get the signal too
	}{
		{"Ctrl-C, which is SIGINT to the process group", "31.001s", syscall.SIGINT, true},
		{"SIGINT to the search alone", "31.002s", syscall.SIGINT, false},
		{"SIGTERM to the search alone", "31.003s", syscall.SIGTERM, false},
		{"SIGTERM to the process group", "31.004s", syscall.SIGTERM, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := startSearch(t, c.patience, "--worlds", "1000000", "--ways", "explored")
			h.waitForLines(1800) // worlds with several faults begin after about 1460 with one fault
			pid := h.Process.Pid
			if c.group {
				pid = -pid
			}
			syscall.Kill(pid, c.signal)
			if status := h.waitForEnd(2 * time.Minute); status != unexpected {
				t.Errorf("status %d, want %d", status, unexpected)
			}
			if got, want := h.stderr.String(), "interrupted: shrinking what was found; interrupt again to stop immediately\n"; got != want {
				t.Errorf("standard error is %q, want %q", got, want)
			}
			report := h.stdout.String()
			if !strings.HasPrefix(report, "INCOMPLETE, because it was interrupted: ") {
				t.Errorf("the report begins with %.100q, want that it is incomplete", report)
			}
			if !strings.Contains(report, "explored/late-client-inherent-needs-fencing.yaml") {
				t.Error("the report does not name the scenario in which a client is paused and writes late")
			}
			if _, err := os.Stat(filepath.Join(h.dir, "explored/late-client-inherent-needs-fencing.yaml")); err != nil {
				t.Error(err)
			}
			h.checkNoOrphans()
		})
	}
}

func TestInterruptedTwice(t *testing.T) {
	h := startSearch(t, "31.005s", "--worlds", "1000000")
	h.waitForLines(1800)
	// The workers are stopped, so the search cannot finish shrinking the ways, however fast
	// the machine is.
	for _, pid := range h.workers() {
		syscall.Kill(pid, syscall.SIGSTOP)
	}
	syscall.Kill(-h.Process.Pid, syscall.SIGINT)
	h.waitForText("interrupted: ")
	syscall.Kill(-h.Process.Pid, syscall.SIGINT)
	if status := h.waitForEnd(10 * time.Second); status != unexpected {
		t.Errorf("status %d, want %d", status, unexpected)
	}
	if got := h.stderr.String(); !strings.HasSuffix(got, "locksim: interrupted twice, so there is no report\n") {
		t.Errorf("standard error is %q", got)
	}
	if h.stdout.Len() > 0 {
		t.Errorf("a search that was interrupted twice prints %.100q, want no report", &h.stdout)
	}
	h.checkNoOrphans()
}

// An interrupted part of a search has no report, but its ledger can be resumed.
func TestInterruptedPart(t *testing.T) {
	h := startSearch(t, "31.006s", "--worlds", "1000000", "--shard", "1/2")
	h.waitForLines(200)
	syscall.Kill(h.Process.Pid, syscall.SIGTERM)
	if status := h.waitForEnd(time.Minute); status != unexpected {
		t.Errorf("status %d, want %d", status, unexpected)
	}
	if got, want := h.stderr.String(), "locksim: part 1 of 2 is not complete: it was interrupted; continue it with --resume instead of --ledger\n"; got != want {
		t.Errorf("standard error is %q, want %q", got, want)
	}
	h.checkNoOrphans()
}

func TestKilledSearchLeavesNoWorkers(t *testing.T) {
	h := startSearch(t, "31.007s", "--worlds", "1000000")
	h.waitForLines(200)
	syscall.Kill(h.Process.Pid, syscall.SIGKILL)
	h.waitForEnd(10 * time.Second)
	h.checkNoOrphans()
}
