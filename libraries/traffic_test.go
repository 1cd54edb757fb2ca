package libraries_test

import (
	"slices"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/scenarios"
)

// For every lock, the report states how many messages, bytes and round trips each section
// and each release costs. That is so whether the trace has the size of each message or only
// their sum.
func TestTrafficIsMeasuredForEveryLock(t *testing.T) {
	i := slices.IndexFunc(scenarios.Embedded(), func(s *scenarios.Scenario) bool { return s.Name == "same-alone" })
	s := scenarios.Embedded()[i]
	for _, lock := range []string{"single", "redlock", "etcd", "zookeeper", "consul", "postgres-lease", "postgres-advisory", "sqlite-lease", "kubernetes"} {
		r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1, Lock: lock})
		if err != nil {
			t.Fatal(err)
		}
		run := r.Runs[0]
		m := run.Measures[slices.Index(checks.MeasureNames(), "traffic")]
		for _, what := range []string{"messages", "round trips", "bytes"} {
			figure := func(name string) int64 {
				i := slices.IndexFunc(m.Figures, func(f checks.Figure) bool { return f.Name == name })
				if i < 0 || m.Figures[i].Value <= 0 {
					t.Errorf("%s: the measure has no figure for %s", lock, name)
					return 1
				}
				return m.Figures[i].Value
			}
			all, section, release := figure(what), figure(what+" per section"), figure(what+" per release")
			if d := all - 3*section; d < -1 || d > 1 || section != release { // there are three sections, and the figures are rounded
				t.Errorf("%s: %d %s in three sections, %d per section and %d per release; want a third of all in both", lock, all, what, section, release)
			}
		}
		inTotal := run.History.Trace.Bytes > 0
		if isCluster := slices.Contains([]string{"etcd", "zookeeper"}, lock); isCluster == inTotal {
			t.Errorf("%s: the lock is on a cluster: %v, and the trace has only the sum of the bytes: %v; want one of them", lock, isCluster, inTotal)
		}
	}
}
