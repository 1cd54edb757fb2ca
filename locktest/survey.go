package locktest

import (
	"encoding/json"
	"iter"
	"testing"

	voice "github.com/locksim/locksim/internal/story"
)

// A Finding is the result of one test case for a lock.
type Finding struct {
	// TestCase is the test case's name, which is the name of its subtest in [Run].
	TestCase string `json:"story"`
	// Worlds is in how many worlds the test case was run, and Failed how many of them fail
	// the lock.
	Worlds int `json:"worlds"`
	Failed int `json:"failed"`
	// Problems are the reasons for which the lock fails, the first problem of each rule.
	Problems []Problem `json:"problems,omitempty"`
	// NotApplicable is why the test case does not apply to this lock, or "". Unknown is why
	// its result is unknown, or "".
	NotApplicable string `json:"untold,omitempty"`
	Unknown       string `json:"unknown,omitempty"`
}

// A Problem is a reason for which a lock fails a test case.
type Problem struct {
	// Rule is the property that is violated, the claim that is not kept, or what a lock
	// must not do.
	Rule string `json:"rule"`
	// Why explains the problem in one sentence.
	Why string `json:"why"`
	// Mistake says in a line what the lock does wrong, and Remedy what to change. Problems
	// of different test cases with the same mistake have the same remedy, which can be "".
	Mistake string `json:"mistake"`
	Remedy  string `json:"remedy,omitempty"`
	// Seed is the seed of the world that shows the problem, and Replay the world itself as
	// a value of the environment variable LOCKSIM_REPLAY.
	Seed   uint64 `json:"seed"`
	Replay string `json:"replay"`
	// Command runs this world again. It is run in the folder of the test's package, unless
	// [Config.Command] is set.
	Command string `json:"command"`
}

// AttrFinding is the name of the test attribute that holds a [Finding] or a [Broken] as a
// JSON object, for programs that read the output of go test -json.
const AttrFinding = "finding"

// Attr makes the finding an attribute of a test. [Run] does so for each test case that
// fails the lock.
func (f Finding) Attr(t testing.TB) {
	t.Helper()
	attr(t, f)
}

// attr makes a finding an attribute of a test, as JSON.
func attr(t testing.TB, finding any) {
	t.Helper()
	text, err := json.Marshal(finding)
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	t.Attr(AttrFinding, string(text))
}

// Survey runs every test case against a lock as [Run] does. Instead of failing the test, it yields
// the result of each test case. Breaking out of the loop ends the survey, and the remaining test
// cases are not run. Survey fails the test if the configuration is invalid. With LOCKSIM_REPLAY it
// runs that world as Run does, and yields nothing.
//
// Like Run, Survey starts the test's binary again for the test that calls it. Each of these
// processes also runs the test's code before the call.
func Survey(t *testing.T, config Config, build New) iter.Seq[Finding] {
	t.Helper()
	s, err := newSubject(t.Name(), config, build)
	if err != nil {
		t.Fatal(err)
	}
	call := nextCall(t.Name())
	if serveOrReplay(t, call, s) {
		return func(func(Finding) bool) {}
	}
	wanted := order{Seeds: s.seeds(t)}
	return func(yield func(Finding) bool) {
		pool := s.pool(t, call)
		defer pool.Close()
		all := s.testCases()
		tasks := make([]task, len(all))
		for i, st := range all {
			tasks[i].TestCase = st.name
			tasks[i].submit(pool, wanted)
		}
		for i, st := range all {
			if o, _ := tasks[i].wait(pool); !yield(s.finding(st, o)) {
				return
			}
		}
	}
}

// finding returns the result of a test case in its exported form.
func (s *subject) finding(st testCase, o testResult) Finding {
	f := Finding{TestCase: st.name, Worlds: o.Worlds, Failed: o.Failed, NotApplicable: o.NotApplicable, Unknown: o.Unknown}
	for _, p := range o.Problems {
		remedy, _ := voice.Remedy(p.Mistake)
		f.Problems = append(f.Problems, Problem{
			Rule: string(p.Rule), Why: p.Why, Mistake: voice.MistakeTitle(p.Mistake, p.Step), Remedy: remedy, Seed: p.Address.Seed, Replay: p.Address.String(), Command: s.replayLine(p.Address.String()),
		})
	}
	return f
}
