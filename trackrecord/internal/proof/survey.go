package proof

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/locktest"
)

// SurveyVariable is the environment variable that asks for the subtest "survey".
const SurveyVariable = "LOCKSIM_SURVEY"

// The attributes of that subtest.
const (
	// AttrFails names a story of the suite that fails the lock, then how many worlds
	// the suite has been through when it is found, how much real time that took, and
	// for what it fails, with spaces between. There is one for each such story.
	AttrFails = "fails"
	// AttrSuite is how many worlds the suite has.
	AttrSuite = "suite"
)

// survey tells which stories of the suite fail the lock. It never fails the test:
// what follows is for its reader to judge.
func survey(t *testing.T, config locktest.Config, build locktest.New) {
	t.Helper()
	if os.Getenv(SurveyVariable) == "" {
		t.Skip("nobody asks for it: it is the suite once more; set " + SurveyVariable)
	}
	start, worlds := time.Now(), 0
	for f := range locktest.Survey(t, config, build) {
		worlds += f.Worlds
		var rules []string
		for _, p := range f.Problems {
			rules = append(rules, strings.ReplaceAll(p.Rule, " ", "-"))
		}
		if len(rules) > 0 {
			after := time.Since(start).Round(time.Millisecond)
			f.Attr(t)
			t.Attr(AttrFails, fmt.Sprintf("%s %d %v %s", f.Story, worlds, after, strings.Join(rules, ",")))
		}
	}
	t.Attr(AttrSuite, fmt.Sprint(worlds))
}
