package locktest

import (
	"encoding/json"
	"iter"
	"testing"
)

// A Finding is what one story says of a lock.
type Finding struct {
	// Story is the name of the subtest that [Run] would tell it in.
	Story string `json:"story"`
	// Worlds is in how many worlds the story was told, and Failed how many of them
	// fail the lock.
	Worlds int `json:"worlds"`
	Failed int `json:"failed"`
	// Problems are what fails the lock, the first of each rule.
	Problems []Problem `json:"problems,omitempty"`
	// Untold says why the story cannot be told with this lock, and Unknown why
	// nothing can be said; both are empty otherwise.
	Untold  string `json:"untold,omitempty"`
	Unknown string `json:"unknown,omitempty"`
}

// A Problem is something that fails a lock.
type Problem struct {
	// Rule is the property that is violated, the claim that is not kept, or what a
	// lock must not do.
	Rule string `json:"rule"`
	// Why is one sentence.
	Why string `json:"why"`
	// Seed is that of the world that shows it, and Replay the world itself, as the
	// environment variable LOCKSIM_REPLAY wants it.
	Seed   uint64 `json:"seed"`
	Replay string `json:"replay"`
	// Command runs this world again, in the folder of the test's package unless
	// [Config.Command] is something else.
	Command string `json:"command"`
}

// AttrFinding is the attribute of a test that tells of a [Finding] or of what is
// [Broken], as a JSON object, to programs that read what go test -json writes.
const AttrFinding = "finding"

// Attr makes the finding an attribute of a test. [Run] does it for each story that
// fails the lock.
func (f Finding) Attr(t testing.TB) {
	t.Helper()
	attr(t, f)
}

func attr(t testing.TB, finding any) {
	t.Helper()
	text, err := json.Marshal(finding)
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	t.Attr(AttrFinding, string(text))
}

// Survey puts a lock through every story as [Run] does, and yields what each
// came to instead of failing the test. Breaking off saves the worlds of the
// stories that were still to come. It fails the test if the configuration makes
// no sense. With LOCKSIM_REPLAY it runs that world as Run does, and yields nothing.
//
// Like Run it starts the test's binary again for the test that calls it, and the
// code of the test before the call is run in each of these processes.
func Survey(t *testing.T, config Config, build New) iter.Seq[Finding] {
	t.Helper()
	s, err := newSubject(t.Name(), config, build)
	if err != nil {
		t.Fatal(err)
	}
	call := nextCall(t.Name())
	if elsewhere(t, call, s) {
		return func(func(Finding) bool) {}
	}
	wanted := order{Seeds: s.seeds(t)}
	return func(yield func(Finding) bool) {
		pool := s.pool(t, call)
		defer pool.Close()
		all := s.stories()
		tasks := make([]task, len(all))
		for i, st := range all {
			tasks[i].Story = st.name
			tasks[i].give(pool, wanted)
		}
		for i, st := range all {
			if o, _ := tasks[i].come(pool); !yield(s.finding(st, o)) {
				return
			}
		}
	}
}

// finding is what a story came to, for others to read.
func (s *subject) finding(st story, o outcome) Finding {
	f := Finding{Story: st.name, Worlds: o.Worlds, Failed: o.Failed, Untold: o.Untold, Unknown: o.Unknown}
	for _, p := range o.Problems {
		f.Problems = append(f.Problems, Problem{
			Rule: string(p.Rule), Why: p.Why, Seed: p.Address.Seed, Replay: p.Address.String(), Command: s.replayLine(p.Address.String()),
		})
	}
	return f
}
