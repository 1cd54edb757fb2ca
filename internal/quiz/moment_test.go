package quiz

import (
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/testkit/suites"
)

// At every moment that a question can be about, the answer is the same a little earlier and a
// little later.
func TestMomentsAreUnambiguous(t *testing.T) {
	const most = 20 // moments of one run
	checked := 0
	for _, s := range suites.RunnableScenarios() {
		result, err := suites.ResultOf(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range result.Runs {
			h := run.History
			if _, ok := onlyLock(h); !ok {
				continue
			}
			clients, camera := grantedClients(h), newCamera(h)
			all := findCalm(h)
			for _, c := range all[:min(len(all), most)] {
				want, ok := possessionAt(h, camera, clients, c.moment)
				for _, shift := range []time.Duration{-c.length / 6, c.length / 6} {
					at := momentAt(h, c.moment.At+shift)
					got, alsoOK := possessionAt(h, camera, clients, at)
					if ok != alsoOK || !got.equal(want) {
						t.Errorf("%s %s, fencing %s: at %s %s, and at %s %s", s.Name, run.Variant.Name, run.Fencing, clockTime(c.moment.At), want.text(), clockTime(at.At), got.text())
					}
					for _, name := range clients {
						before, _ := knows(h, camera, name, c.moment)
						if after, _ := knows(h, camera, name, at); after != before {
							t.Errorf("%s %s, fencing %s: %s knows something else at %s than at %s", s.Name, run.Variant.Name, run.Fencing, name, clockTime(c.moment.At), clockTime(at.At))
						}
					}
					if ev := h.LastUntil(at); history.MomentOf(ev).At == at.At {
						t.Errorf("%s %s: something happens at %s", s.Name, run.Variant.Name, clockTime(at.At))
					}
				}
				checked++
			}
		}
	}
	if checked < 500 {
		t.Errorf("only %d moments were checked", checked)
	}
}
