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

// The attributes of the subtest "survey".
const (
	// AttrFails describes a test case of the suite that fails the lock: its name, the
	// number of worlds that the suite has run until then, the real time that this took, and
	// the rules that the lock broke, separated by spaces. Each such test case has one.
	AttrFails = "fails"
	// AttrSuite is the number of worlds in the suite.
	AttrSuite = "suite"
)

// survey reports which test cases of the suite fail the lock. It never fails the test
// itself: the reader of the attributes judges them.
func survey(t *testing.T, config locktest.Config, build locktest.New) {
	t.Helper()
	if os.Getenv(SurveyVariable) == "" {
		t.Skip("it is the suite again; to run it, set " + SurveyVariable)
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
