package command

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/reports"
)

// CI compares the ways that a search finds for Redlock on three nodes with this report. The
// report contains the scenarios of the debate about Redlock, although the search does not
// know them.
func TestKnownWaysContainTheScenariosOfTheDebate(t *testing.T) {
	data, err := os.ReadFile("testdata/known/redlock-on-3-nodes.json")
	if err != nil {
		t.Fatal(err)
	}
	known, err := reports.ReadExplored(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, debated := range []struct {
		scenario string
		idPrefix string // the ID of the way begins with it
		cause    string // one of the causes of the way contains it
		breaks   string // the way violates this property without fencing
	}{
		{"gc-pause", "late-client/inherent", "a pause of a client", "section-exclusion"},
		{"delayed-write", "late-client", "a late write request", "write-order"},
		{"clock-jump", "node-clock-forward+unreachable-node/assumption-clock", "a node's clock set forward", "lease-exclusion"},
		{"crash-restart", "forgetful-node+unreachable-node/assumption-lock-memory", "a crash of a node", "lease-exclusion"},
	} {
		found := false
		for _, w := range known.Ways {
			caused := false
			for _, c := range w.Causes {
				caused = caused || strings.Contains(c.Faults, debated.cause)
			}
			if strings.HasPrefix(w.ID, debated.idPrefix) && caused && slices.Contains(w.Off, debated.breaks) && len(w.Example.Faults) <= 2 {
				found = true
			}
		}
		if !found {
			t.Errorf("%s: no known way has an ID that begins with %s, is caused by %s and breaks %s", debated.scenario, debated.idPrefix, debated.cause, debated.breaks)
		}
	}
	for _, w := range known.Ways {
		if w.Blame == checks.BlameLock {
			t.Errorf("Redlock itself is to blame for %s", w.ID)
		}
	}
}
