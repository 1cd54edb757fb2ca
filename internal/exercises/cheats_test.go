package exercises

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A lock that does something else than to exclude clients by the keys on the servers reaches
// no stage.
func TestCheats(t *testing.T) {
	w := newWorkshop(t)
	all, err := filepath.Glob("testdata/cheats/*/lock.go")
	if err != nil || len(all) < 10 {
		t.Fatal(all, err)
	}
	var cheats [][]byte
	for _, file := range all {
		lock, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		cheats = append(cheats, lock)
	}
	for i, trial := range w.openAll(t, cheats) {
		t.Run(filepath.Base(filepath.Dir(all[i])), func(t *testing.T) {
			for _, s := range Stages() {
				why, err := trial.Check(t.Context(), s)
				if err != nil {
					t.Fatal(err)
				}
				if name := filepath.Base(filepath.Dir(all[i])); name == "nil-lease" && why != nil && why.Why != "Acquire returns neither a lease nor an error." {
					t.Errorf("the check says %+v", why)
				}
				if why != nil && strings.Contains(why.Why, "hangs") && !strings.Contains(why.Hint, "sync.Mutex") {
					t.Errorf("the hint is %q", why.Hint)
				}
				if why == nil {
					t.Errorf("it passes the worlds of stage %d", s.Number)
				} else if s.Number == 1 {
					t.Logf("%s: %s\n%s", why.Address, why.Why, why.Lines)
				}
				if why != nil && strings.Contains(why.Why, "hangs") {
					break // each stage would wait for it
				}
			}
		})
	}
}
