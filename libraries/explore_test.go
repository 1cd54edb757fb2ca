package libraries_test

import (
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/explore"
)

// A lock whose leases cannot be extended has no workload in which they are.
func TestABaseThatProvesNothing(t *testing.T) {
	bases := explore.Lock{Name: "rueidislock", Extends: true, Seed: 1}.Bases(explore.Kinds{})
	l := explore.NewLocal(bases, 10*time.Second, nil)
	var took []string
	for base := range bases {
		r, err := l.Record(base)
		if err != nil {
			t.Fatal(err)
		}
		if r.TookPlace() {
			took = append(took, r.Name)
		}
	}
	if !slices.Equal(took, []string{"contend", "replicated"}) {
		t.Errorf("workloads that take place: %q", took)
	}
}
