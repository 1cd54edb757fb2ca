package command

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// This test program has no lock of a library. Questions that need one are left out and counted,
// and a question that is named is refused.
func TestAskLeavesOutQuestionsWhoseLocksAreNotLinked(t *testing.T) {
	ask := func(args ...string) (status int, stdout, stderr string) {
		var out, err bytes.Buffer
		status = locksim(append([]string{"ask"}, args...), &out, &err)
		return status, out.String(), err.String()
	}
	status, stdout, stderr := ask("myths", "--sheet", "--number", "1")
	if status != success || !strings.Contains(stdout, "**1.**") {
		t.Errorf("the sheet ends with status %d: %s", status, stdout)
	}
	if m := regexp.MustCompile(`^left out: ([0-9]+) questions?, because their locks are not linked into this program; locksim-all has all locks\n$`).FindStringSubmatch(stderr); m == nil || m[1] == "0" {
		t.Errorf("the note about what was left out is %q", stderr)
	}
	for _, name := range []string{"etcd-keep-alives-cut-off", "etcd-gc-pause"} {
		if status, stdout, stderr := ask(name); status != badInput || stdout != "" || !strings.Contains(stderr, "not linked into this program") || !strings.Contains(stderr, "locksim-all ask "+name) {
			t.Errorf("ask %s ends with status %d, prints %q, and says %q", name, status, stdout, stderr)
		}
	}
}
