//go:build unix

package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
)

// runIn runs locksim in a folder, and returns its output and its exit status.
func runIn(t *testing.T, dir string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var outText, errText bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "locksim", args...) // this program; see TestMain
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &outText, &errText
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return outText.String(), errText.String(), cmd.ProcessState.ExitCode()
}

// While a search writes to its ledger, no other process can resume or read the ledger, and
// nothing in it is lost. Once the search has ended, in whatever way, any process can.
func TestLedgerIsUsedByOneSearchAtATime(t *testing.T) {
	h := startSearch(t, "31.010s", "--worlds", "1000000", "--shard", "1/2")
	h.waitForLines(100)
	uses := fmt.Sprintf("process %d (%s) is using it; try again when that process has ended\n", h.Process.Pid, strings.Join(h.Args, " "))
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		uses = fmt.Sprintf("process %d is using it; try again when that process has ended\n", h.Process.Pid)
	}
	_, stderr, status := runIn(t, h.dir, append(slices.Clone(h.args), "--resume", "ledger")...)
	if want := "locksim: --resume ledger: " + uses; stderr != want || status != badInput {
		t.Errorf("a second search with the same ledger: status %d and standard error %q, want %q", status, stderr, want)
	}
	_, stderr, status = runIn(t, h.dir, "merge", "ledger")
	if want := "locksim: ledger: " + uses; stderr != want || status != badInput {
		t.Errorf("merge of a ledger in use: status %d and standard error %q, want %q", status, stderr, want)
	}
	syscall.Kill(h.Process.Pid, syscall.SIGKILL)
	<-h.ended

	// Two searches resume the ledger at the same time: one of them is refused.
	both := []*searchProcess{{t: t, dir: h.dir, args: h.args}, {t: t, dir: h.dir, args: h.args}}
	for _, h := range both {
		h.start("--resume", "ledger")
		t.Cleanup(func() { syscall.Kill(-h.Process.Pid, syscall.SIGKILL) })
	}
	var refused, resumed *searchProcess
	select {
	case <-both[0].ended:
		refused, resumed = both[0], both[1]
	case <-both[1].ended:
		refused, resumed = both[1], both[0]
	}
	if status := refused.ProcessState.ExitCode(); status != badInput || !strings.Contains(refused.stderr.String(), fmt.Sprintf("process %d ", resumed.Process.Pid)) {
		t.Errorf("the refused search has the status %d and the standard error %q, want that process %d uses the ledger", status, &refused.stderr, resumed.Process.Pid)
	}
	resumed.waitForLines(1000)
	syscall.Kill(resumed.Process.Pid, syscall.SIGKILL)
	<-resumed.ended
	if _, stderr, _ := runIn(t, h.dir, "merge", "ledger"); !strings.Contains(stderr, "part 2 of 2 is missing") {
		t.Errorf("the ledger is damaged: %s", stderr)
	}
}

// If a single bit of a ledger changes, the report remains the same, or an error takes its
// place.
func TestDamagedLedger(t *testing.T) {
	if testing.Short() {
		t.Skip("this test runs thousands of worlds")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("two.yaml", twoClients)
	search := []string{"explore", "two.yaml", "--max-faults", "1", "--format", "json", "--timeout", "31.011s"}
	want, stderr, status := runIn(t, dir, append(search, "--ledger", "ledger")...)
	if status != unexpected {
		t.Fatalf("the search without damage: status %d: %s", status, stderr)
	}
	text, err := os.ReadFile(filepath.Join(dir, "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	const flips = 60
	refused := 0
	for i := range flips {
		at := len(text)/flips*i + i%7
		damaged := bytes.Clone(text)
		damaged[at] ^= 1 << (i % 8)
		write("damaged", string(damaged))
		for _, args := range [][]string{{"merge", "damaged", "--format", "json"}, append(search, "--resume", "damaged")} {
			got, stderr, status := runIn(t, dir, args...)
			switch {
			case status == unexpected && got == want: // the status is 1 because the lock leaves a key behind
			case status == badInput && got == "" && strings.Contains(stderr, "damaged: it cannot be used: "):
				refused++
				if now, err := os.ReadFile(filepath.Join(dir, "damaged")); err != nil || !bytes.Equal(now, damaged) {
					t.Errorf("%s: a ledger that was refused has been changed (%v)", args[0], err)
				}
			default:
				t.Errorf("%s of a ledger in which bit %d of byte %d is changed: status %d, %s; want the report of the whole ledger, or an error that names the damage", args[0], i%8, at, status, stderr)
			}
		}
	}
	if refused == 0 {
		t.Error("none of the damaged ledgers was refused")
	}

	// A ledger with an edited line is refused. If that line is deleted, its world is run
	// again.
	lines := strings.SplitAfter(string(text), "\n")
	edited := slices.Clone(lines)
	edited[16] = strings.Replace(edited[16], `"i":`, `"i":1`, 1) // the number of another world
	write("edited", strings.Join(edited, ""))
	_, stderr, status = runIn(t, dir, "merge", "edited")
	if want := "locksim: edited: it cannot be used: line 17: it was damaged or edited: its checksum is wrong; delete the line, and --resume runs its world again\n"; status != badInput || stderr != want {
		t.Errorf("merge of a ledger with an edited line: status %d and standard error %q, want %q", status, stderr, want)
	}
	write("edited", strings.Join(slices.Delete(edited, 16, 17), ""))
	if got, stderr, status := runIn(t, dir, append(search, "--resume", "edited")...); status != unexpected || got != want {
		t.Errorf("resuming the ledger without the edited line: status %d, or another report; standard error %s", status, stderr)
	}
}

// A ledger that another version of locksim has written is not merged.
func TestPartsOfAnotherVersion(t *testing.T) {
	file := filepath.Join(t.TempDir(), "old.jsonl")
	var ledger bytes.Buffer
	search := explore.Search{Bases: []explore.Base{{Base: runs.Base{Name: "contend", Text: []byte("title: x\n"), Seed: 1}}}, MaxFaults: 1}
	heading := search.Heading("locksim v0.0.1", "single")
	if err := explore.NewLedger().WriteTo(&ledger, &heading); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, ledger.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	_, _, err := mergeLedgers([]string{file})
	if want := "it was written by version locksim v0.0.1, and this is version " + searchVersion("single") + "; merge with the version that ran the search"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error of the merge is %v, want %q", err, want)
	}
}

// At the end of a search a note says that the ledger was removed, or that another file now
// has its name. There is no note if the ledger is as the search has written it.
func TestLedgerIsStillThere(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(ledger string) error // changes the folder while the search runs
		noted     bool
	}{
		"the ledger is as the search has written it": {func(string) error { return nil }, false},
		"the ledger is removed":                      {os.Remove, true},
		"another file has the name of the ledger": {func(ledger string) error {
			return errors.Join(os.Rename(ledger, ledger+".old"), os.WriteFile(ledger, nil, 0o666))
		}, true},
	} {
		file, err := os.Create(filepath.Join(t.TempDir(), "ledger"))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.meanwhile(file.Name()); err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		closeAndCheck(&stderr, file)
		if noted := strings.Contains(stderr.String(), "was removed or replaced while the search ran"); noted != c.noted {
			t.Errorf("%s: a note says so: %v, want %v; standard error is %q", name, noted, c.noted, stderr.String())
		}
	}
}
