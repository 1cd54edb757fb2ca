package locktest

import (
	"strings"
	"testing"

	"github.com/locksim/locksim/locks"
)

// A group of scenarios about one system does not apply to locks on another, but the debate and
// the other groups do.
func TestGroupsAboutOtherSystems(t *testing.T) {
	aboutOther := func(system, testCaseName string) bool {
		st, ok := findTestCase(testCaseName)
		if !ok {
			t.Fatalf("there is no test case %s", testCaseName)
		}
		_, notApplicable, _ := st.worlds(&subject{kind: locks.Kind{System: system, Slots: func(string, int) ([]locks.Slot, int) { return nil, 0 }}}, 1)
		return strings.HasPrefix(notApplicable, "it is about a lock on ")
	}
	for _, c := range []struct {
		system, testCase string
		want             bool
	}{
		{locks.Redis, "catalogue/zookeeper-lost-answer/found", true},
		{locks.Redis, "catalogue/postgres-gc-pause", true},
		{locks.Postgres, "catalogue/zookeeper-lost-answer/found", true},
		{locks.Postgres, "catalogue/postgres-gc-pause", false},
		{locks.Redis, "catalogue/gc-pause", false},
		{locks.Postgres, "catalogue/gc-pause", false},
	} {
		if got := aboutOther(c.system, c.testCase); got != c.want {
			t.Errorf("%s is about another system than %s: %t, want %t", c.testCase, c.system, got, c.want)
		}
	}
}
