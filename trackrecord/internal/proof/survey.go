package proof

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/locktest"
)

// SurveyVariable is the environment variable that turns the subtest "survey" on.
const SurveyVariable = "LOCKSIM_SURVEY"

// These attributes are written by the subtest "survey".
const (
	// AttrFails describes a test case of the suite that the lock fails. It has four words: the name
	// of the test case, the number of worlds that the suite has run so far, the real time that they
	// took, and the rules that the lock broke, separated by commas. The attribute is written for
	// each such test case.
	AttrFails = "fails"
	// AttrSuite is the number of worlds in the suite.
	AttrSuite = "suite"
)

// survey runs the suite, and reports the test cases that the lock fails. It does not fail
// the test: the reader of the attributes judges the failures.
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
			t.Attr(AttrFails, fmt.Sprintf("%s %d %v %s", f.TestCase, worlds, after, strings.Join(rules, ",")))
		}
	}
	t.Attr(AttrSuite, fmt.Sprint(worlds))
}
