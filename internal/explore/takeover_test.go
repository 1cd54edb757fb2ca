package explore

import (
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/locks"
)

// slowLock returns a lock whose keys last three times as long as its holders believe. So
// another client waits that long after a crash of the holder.
func slowLock(t *testing.T) Lock {
	t.Helper()
	kind, ok := locks.Lookup("single")
	if !ok {
		t.Fatal("there is no lock single")
	}
	make := kind.New
	kind.New = func(e *locks.Env) (locks.Lock, error) {
		patient := *e
		patient.TTL *= 3
		return make(&patient)
	}
	return Lock{Name: "single", Kind: kind, Extends: true, Seed: 1}
}

// Another client may have to wait for long after a crash of the holder. Then the longest
// faults, and the work of the holder, last longer than this wait. If the longest faults outlast
// the wait anyway, nothing changes.
func TestTakeover(t *testing.T) {
	for name, c := range map[string]struct {
		lock    Lock
		want    time.Duration   // the takeover; 0 if it is within the longest faults anyway
		lengths []time.Duration // some lengths of faults
		longest time.Duration   // the length of the longest faults
	}{
		"a lock with a TTL": {Lock{Name: "single", Extends: true, Seed: 1}, 0, []time.Duration{60 * time.Second, 31500 * time.Millisecond}, time.Minute},
		// The key lasts for 90 s, and the other client asks only every 4.5 s.
		"a lock whose keys outlast its leases": {slowLock(t), 91 * time.Second, []time.Duration{182 * time.Second, 95550 * time.Millisecond, 60 * time.Second}, 182 * time.Second},
		"a lock with a short TTL":              {Lock{Name: "single", TTL: time.Second, Seed: 1}, 0, []time.Duration{2 * time.Second}, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			plain := c.lock.Bases(Kinds{})
			local := NewLocal(plain, 10*time.Second)
			got, err := Takeover(t.Context(), local)
			if err != nil || got != c.want {
				t.Fatalf("the takeover is %v, %v; want %v", got, err, c.want)
			}
			c.lock.Takeover = got
			bases := c.lock.Bases(Kinds{})
			for i, b := range bases {
				if same := string(b.Text) == string(plain[i].Text); same != (got == 0) {
					t.Errorf("%s is unchanged: %t, want %t\n%s", b.Name, same, got == 0, b.Text)
				}
			}
			r := makeRecord(t, NewLocal(bases, 10*time.Second), bases, 0)
			if l := r.mapLengths(); r.longestFault() != c.longest || l[len(l)-1] != c.longest {
				t.Errorf("the longest faults last %v, and on the map %v; want %v", r.longestFault(), l, c.longest)
			}
			lengths := map[time.Duration]bool{}
			for _, w := range r.Singles() {
				lengths[w.Faults[0].Size().Time] = true
			}
			for _, want := range c.lengths {
				if !lengths[want] {
					t.Errorf("no fault lasts %v: %v", want, lengths)
				}
			}
			if longer := slices.ContainsFunc(r.Singles(), func(w runs.WorldSpec) bool { return w.Faults[0].Size().Time > c.longest }); longer {
				t.Errorf("some faults last longer than %v: %v", c.longest, lengths)
			}
		})
	}
}

// A ledger belongs to a search with one takeover. A search with another takeover cannot use
// it, even if the workload is the same.
func TestLedgerOfAnotherTakeover(t *testing.T) {
	other := *testSearch
	other.Bases = slices.Clone(testSearch.Bases)
	other.Bases[0].Takeover = 75 * time.Second
	if err := other.Heading("v1", "single").CheckContinues(testSearch.Heading("v1", "single")); err == nil {
		t.Error("a search with another takeover continues with the ledger, want an error")
	}
}
