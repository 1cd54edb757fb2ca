package exercises

import (
	"bytes"
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
	var names []string
	var others [][]byte
	for _, file := range all {
		lock, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(file))
		if !bytes.Contains(lock, []byte("func init()")) {
			others = append(others, lock)
			names = append(names, name)
			continue
		}
		// It ends every program that it is compiled into, also one that does not use it.
		t.Run(name, func(t *testing.T) { checkCheat(t, w.open(t, lock)) })
	}
	for i, trial := range w.openAll(t, others) {
		t.Run(names[i], func(t *testing.T) { checkCheat(t, trial) })
	}
}

// checkCheat checks a lock in all stages, none of which it may reach.
func checkCheat(t *testing.T, trial *Trial) {
	t.Helper()
	for _, s := range Stages() {
		why, err := trial.Check(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if why == nil {
			t.Errorf("it passes the worlds of stage %d", s.Number)
			continue
		}
		t.Logf("stage %d: %s: %s\n%s", s.Number, why.Address, why.Why, why.Lines)
		switch hangs := strings.Contains(why.Why, "hangs"); {
		case strings.HasSuffix(t.Name(), "/nil-lease") && why.Why != "Acquire returns neither a lease nor an error.":
			t.Errorf("stage %d: the check says %+v", s.Number, why)
		case hangs && !strings.Contains(why.Hint, "sync.Mutex"):
			t.Errorf("stage %d: the hint is %q", s.Number, why.Hint)
		case hangs:
			return // each stage would wait for it
		}
	}
}
