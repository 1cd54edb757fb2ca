//go:build unix

package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// A search that is killed several times, each time with half a line in its ledger, ends
// with the same report and files as a search that was not killed. The number of jobs does
// not matter.
func TestKilledSearchGoesOn(t *testing.T) {
	// The search ends with status 1, because the lock leaves a key behind, which is the
	// lock's own fault.
	explore := []string{"--ways", "explored", "--worlds", "200", "--max-faults", "3", "--format", "json", "-o", "report"}
	calm := startSearch(t, "31.008s", append(explore, "--jobs", "1")...)
	<-calm.ended
	if calm.ProcessState.ExitCode() != unexpected {
		t.Fatalf("status %d: %s", calm.ProcessState.ExitCode(), &calm.stderr)
	}

	h := startSearch(t, "31.009s", explore...)
	for _, lines := range []int{100, 1000, 1550} {
		h.waitForLines(lines)
		syscall.Kill(h.Process.Pid, syscall.SIGKILL)
		<-h.ended
		h.checkNoOrphans()
		ledger, err := os.OpenFile(filepath.Join(h.dir, "ledger"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(ledger, `{"u":"singles","i":3,"o":{"of`)
		ledger.Close()
		h.start("--resume", "ledger")
	}
	<-h.ended
	if status := h.ProcessState.ExitCode(); status != unexpected {
		t.Fatalf("status %d: %s", status, &h.stderr)
	}
	diff, err := exec.Command("diff", "-r", "--exclude=ledger", calm.dir, h.dir).CombinedOutput()
	if err != nil {
		t.Errorf("what the two came to differs: %v\n%s", err, diff)
	}
}
