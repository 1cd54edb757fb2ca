package explore

import (
	"slices"
	"testing"

	"github.com/locksim/locksim/trace"
)

// The likely faults are some of all single faults. There are faults of each kind that a quick
// search tries, and each message is late once and lost at most once.
func TestLikelySingles(t *testing.T) {
	for _, lock := range []string{"redlock", "single"} {
		l, bases := newRunner(lock, 0)
		r, err := Records{bases, l}.Record(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]bool{}
		for _, w := range r.Singles() {
			all[w.Faults[0].String()] = true
		}
		var effects []trace.Effect
		for _, likely := range r.LikelySingles() {
			effects = append(effects, likely.Effect)
			seen := map[string]bool{}
			for _, f := range likely.Faults {
				text := f.String()
				if !all[text] || seen[text] {
					t.Errorf("%s: %s is no single fault, or is listed twice", lock, text)
				}
				if seen[text] = true; f.Effect() != likely.Effect {
					t.Errorf("%s: %s has the effect %s, and is listed under %s", lock, text, f.Effect(), likely.Effect)
				}
			}
			if n := len(likely.Faults); likely.Effect == trace.HoldsMessage && n != len(r.Messages) {
				t.Errorf("%s: %d of %d messages are late", lock, n, len(r.Messages))
			}
		}
		for _, want := range []trace.Effect{trace.StopsProcess, trace.HoldsMessage, trace.ResetsConnection, trace.CutsLink, trace.SetsClock, trace.KillsProcess} {
			if !slices.Contains(effects, want) {
				t.Errorf("%s: no fault has the effect %s", lock, want)
			}
		}
	}
}
