package exercises

import (
	"path"
	"strings"
	"testing"

	"github.com/locksim/locksim/scenarios"
)

// Each hidden world is a scenario, whatever its seed is, and its address leads to it.
func TestHiddenWorlds(t *testing.T) {
	used := map[string]bool{}
	for _, h := range hiddenWorlds {
		if h.stage < 1 || h.stage > lastStage || lastStage != len(Stages()) {
			t.Errorf("%s belongs to stage %d", h.name, h.stage)
		}
		for seed := range uint64(20) {
			w := h.with(seed)
			if _, err := scenarios.Parse(h.name+".yaml", []byte(w.text)); err != nil {
				t.Fatalf("%v\n%s", err, w.text)
			}
			again, ok := parseAddress(w.address())
			if !ok || again.text != w.text {
				t.Errorf("%s is another world", w.address())
			}
		}
		used[h.file()] = true
	}
	files, err := worldFiles.ReadDir("_worlds")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := strings.TrimSuffix(f.Name(), path.Ext(f.Name())); !used[name] {
			t.Errorf("no stage uses _worlds/%s", f.Name())
		}
	}
	for _, address := range []string{"", "in-turn", "in-turn/", "in-turn/x", "nowhere/1", "in-turn/-1"} {
		if IsWorld(address) {
			t.Errorf("%q is the address of a world", address)
		}
	}
}

// The seeds depend on the text of the lock, and on nothing else.
func TestSeedsDependOnTheLock(t *testing.T) {
	a, b, c := worldsOf(1, []byte("a")), worldsOf(1, []byte("b")), worldsOf(1, []byte("a"))
	if a[0].seed == b[0].seed || a[0].address() != c[0].address() || a[0].text == b[0].text {
		t.Errorf("the worlds are %s, %s and %s", a[0].address(), b[0].address(), c[0].address())
	}
	if len(a) != 5*seedsPerWorld {
		t.Errorf("stage 1 has %d worlds", len(a))
	}
}
