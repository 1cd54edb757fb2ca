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
func TestKilledSearchIsResumed(t *testing.T) {
	// The search ends with status 1, which is the constant unexpected: it finds that the lock
	// single leaves a key behind, which is the lock's own fault. The times are values of
	// --timeout by which startSearch recognizes the workers; they do not change the report.
	explore := []string{"--ways", "explored", "--worlds", "200", "--max-faults", "3", "--format", "json", "-o", "report"}
	undisturbed := startSearch(t, "31.008s", append(explore, "--jobs", "1")...)
	<-undisturbed.ended
	if undisturbed.ProcessState.ExitCode() != unexpected {
		t.Fatalf("the search that is not killed: status %d, want %d: %s", undisturbed.ProcessState.ExitCode(), unexpected, &undisturbed.stderr)
	}

	killed := startSearch(t, "31.009s", explore...)
	for _, lines := range []int{100, 1000, 1550} {
		killed.waitForLines(lines)
		syscall.Kill(killed.Process.Pid, syscall.SIGKILL)
		<-killed.ended
		killed.checkNoOrphans()
		ledger, err := os.OpenFile(filepath.Join(killed.dir, "ledger"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(ledger, `{"u":"singles","i":3,"o":{"of`)
		ledger.Close()
		killed.start("--resume", "ledger")
	}
	<-killed.ended
	if status := killed.ProcessState.ExitCode(); status != unexpected {
		t.Fatalf("the search that was killed: status %d, want %d: %s", status, unexpected, &killed.stderr)
	}
	diff, err := exec.Command("diff", "-r", "--exclude=ledger", undisturbed.dir, killed.dir).CombinedOutput()
	if err != nil {
		t.Errorf("the two searches have different reports or files: %v\n%s", err, diff)
	}
}
