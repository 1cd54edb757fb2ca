package locktest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A testCase is one subtest: one question, asked in one world or in many.
type testCase struct {
	// name is the path of the subtest, such as "catalogue/gc-pause".
	name string
	// title describes the test case in one line.
	title string
	// worlds makes the worlds of the test case, on one seed. notApplicable is why the test
	// case does not apply to the lock, or "".
	worlds func(s *subject, seed uint64) (worlds []world, notApplicable string, err error)
}

// A world is one simulated world of a test case. It is run once, or twice to see whether the two
// runs are equal.
type world struct {
	// name distinguishes the worlds of a test case; "" if there is only one.
	name   string
	config sim.Config
	// witnesses returns what must be seen in the trace for the result to mean anything; nil
	// if nothing must be seen.
	witnesses func(*trace.Trace) []trace.Witness
	// fenced means that the storage checks fencing tokens.
	fenced bool
}

// testCases returns all test cases, in the order in which they run.
var testCases = sync.OnceValue(func() []testCase {
	return slices.Concat(conformanceCases(), sweepCases(), catalogueCases(), ttlCases())
})

// testCases returns the test cases that the subject's Config selects.
func (s *subject) testCases() []testCase {
	if s.config.Stories == nil {
		return testCases()
	}
	return slices.DeleteFunc(slices.Clone(testCases()), func(st testCase) bool { return !s.config.Stories(st.name) })
}

// findTestCase returns the test case with the given name, and whether there is one.
func findTestCase(name string) (testCase, bool) {
	all := testCases()
	if i := slices.IndexFunc(all, func(s testCase) bool { return s.name == name }); i >= 0 {
		return all[i], true
	}
	return testCase{}, false
}

// An address identifies one world: by its test case, its name in the test case, and its
// seed.
type address struct {
	TestCase string
	World    string
	Seed     uint64
}

// String returns the address in the form of LOCKSIM_REPLAY.
func (p address) String() string {
	text := p.TestCase
	if p.World != "" {
		text += "/" + p.World
	}
	if p.Seed != 1 {
		text += fmt.Sprintf(" seed %d", p.Seed)
	}
	return text
}

// parseAddress parses what String returns. A slash separates the names of test case and
// world, and is also part of names. So the test case is the one with the longest name that
// the text begins with.
func parseAddress(text string) (address, error) {
	p := address{Seed: 1}
	path, seed, hasSeed := strings.Cut(strings.TrimSpace(text), " seed ")
	if hasSeed {
		n, err := strconv.ParseUint(seed, 10, 64)
		if err != nil || n == 0 {
			return p, fmt.Errorf("locktest: in %q the seed must be a number from 1, not %q", text, seed)
		}
		p.Seed = n
	}
	for _, s := range testCases() {
		if rest, ok := strings.CutPrefix(path, s.name); ok && len(s.name) > len(p.TestCase) && (rest == "" || rest[0] == '/') {
			p.TestCase, p.World = s.name, strings.TrimPrefix(rest, "/")
		}
	}
	if p.TestCase == "" {
		return p, fmt.Errorf("locktest: no test case is called %q; %s", path, suggestName(path))
	}
	return p, nil
}

// suggestName returns a hint at what an unknown name of a test case was meant to be.
func suggestName(path string) string {
	var names []string
	for _, s := range testCases() {
		if strings.HasSuffix(s.name, "/"+path) {
			return fmt.Sprintf("did you mean %q?", s.name)
		}
		names = append(names, s.name)
	}
	if strings.Count(path, "/") > 1 { // the last part may be the name of a world
		if hint := scenarios.DidYouMean(path[:strings.LastIndex(path, "/")], names); hint != "" {
			return hint
		}
	}
	return cmp.Or(scenarios.DidYouMean(path, names), "the names of test cases are those of the subtests of locktest.Run, which go test -v lists")
}
