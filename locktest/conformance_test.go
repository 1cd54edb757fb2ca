package locktest

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// runCase runs a test case against a registered lock, on one seed.
func runCase(t *testing.T, kind string, c Config, name string) testResult {
	t.Helper()
	k, ok := locks.Lookup(kind)
	if !ok {
		t.Fatalf("no lock is called %s", kind)
	}
	s, err := newSubject("Test", c, func(env *Env) (locks.Lock, error) { return k.New(env.Base()) })
	if err != nil {
		t.Fatal(err)
	}
	st, ok := findTestCase(name)
	if !ok {
		t.Fatalf("there is no test case %s", name)
	}
	o, _ := s.runTestCase(st, order{TestCase: name, Seeds: 1}, func(address) {})
	return o
}

// A lock without a mistake passes every conformance test case, with every number of nodes.
// Each fault strikes, and the situation occurs that the test case is about.
func TestConformanceOfSoundLocks(t *testing.T) {
	for _, l := range []struct {
		kind   string
		config Config
	}{
		{"single", Config{Extends: true, OwnClock: true}},
		{"single-token", Config{Extends: true, Tokens: true, OwnClock: true}},
		{"watchdog", Config{Notifies: true, OwnClock: true}},
		{"single-no-ttl", Config{Endless: true, OwnClock: true}},
		{"redlock", Config{Nodes: 3, Extends: true, OwnClock: true}},
		{"redlock", Config{Nodes: 4, Extends: true, OwnClock: true}},
		{"redlock", Config{Nodes: 5, Extends: true, OwnClock: true}},
		{"redlock", Config{Nodes: 5, Extends: true}},
	} {
		for _, st := range conformanceCases() {
			if st.name == "hundreds-of-sections" && l.config.Nodes > 3 {
				continue // this test case is slow, and the number of nodes makes no difference for it
			}
			o := runCase(t, l.kind, l.config, st.name)
			for _, p := range o.Problems {
				if p.Rule == checks.KeyLeftBehind && l.config.Nodes == 0 {
					continue // the lock of the Redis documentation does not remove the key of a failed acquire
				}
				t.Errorf("%s on %d nodes, %s: %s", l.kind, l.config.Nodes, p.Address, p)
			}
			if o.Unknown != "" {
				t.Errorf("%s on %d nodes, %s: unknown: %s", l.kind, l.config.Nodes, st.name, o.Unknown)
			}
		}
	}
}

// Each conformance test case applies to at least one registered lock.
func TestConformanceCasesApplyToSomeLock(t *testing.T) {
	locks := []struct {
		kind   string
		config Config
	}{
		{"redlock", Config{Nodes: 5, Extends: true, OwnClock: true}},
		{"single-token", Config{Tokens: true, OwnClock: true}},
		{"watchdog", Config{Notifies: true, OwnClock: true}},
	}
	for _, st := range conformanceCases() {
		worlds := 0
		for _, l := range locks {
			worlds += runCase(t, l.kind, l.config, st.name).Worlds
		}
		if worlds == 0 {
			t.Errorf("%s applies to none of the locks", st.name)
		}
	}
}

// A lock fails if it does not keep a claim of its Config.
func TestClaims(t *testing.T) {
	for _, c := range []struct {
		kind   string
		config Config
		story  string
		want   checks.Property
	}{
		{"watchdog", Config{Extends: true, OwnClock: true}, "claims/extend", checks.ClaimExtends},
		{"single", Config{Notifies: true, OwnClock: true}, "claims/no-false-alarm", checks.ClaimNotifies},
		{"single", Config{Tokens: true, OwnClock: true}, "claims/tokens", checks.ClaimTokens},
		{"single-no-ttl", Config{OwnClock: true}, "holder-dies", "progress"},
		{"single-plain-del", Config{OwnClock: true}, "loss/release", "release-ownership"},
	} {
		o := runCase(t, c.kind, c.config, c.story)
		var rules []checks.Property
		for _, p := range o.Problems {
			rules = append(rules, p.Rule)
			if p.Rule == c.want {
				rules = nil
				break
			}
		}
		if len(o.Problems) == 0 || rules != nil {
			t.Errorf("%s in %s: got violations of %q, want one of %q", c.kind, c.story, rules, c.want)
		}
	}
}

// A client's program may return an error. The lock fails only if the error is a breach,
// which says that the lock broke a rule.
func TestOnlyBreachesCount(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New("the storage refused it"), ""},
		{newBreach("hang", "it took %d s", 5), "hang | it took 5 s"},
	} {
		got := ""
		if err := ignoreOtherErrors(func(context.Context, *sim.Program) error { return c.err })(t.Context(), nil); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("after the error %v: got the breach %q, want %q", c.err, got, c.want)
		}
	}
}

// The run of a conformance test case has the same events each time, however the goroutines
// of its programs and of the lock are scheduled.
func TestConformanceIsDeterministic(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the test cases twice")
	}
	for _, l := range []struct {
		kind   string
		config Config
	}{
		{"redlock", Config{Nodes: 5, Extends: true, OwnClock: true}},
		{"watchdog", Config{Notifies: true, OwnClock: true}},
	} {
		k, ok := locks.Lookup(l.kind)
		if !ok {
			t.Fatalf("no lock is called %s", l.kind)
		}
		s, err := newSubject("Test", l.config, func(env *Env) (locks.Lock, error) { return k.New(env.Base()) })
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range conformanceCases() {
			if st.name == "hundreds-of-sections" {
				continue // this test case is slow, and repeats what other test cases do
			}
			worlds, _, err := st.worlds(s, 7)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range worlds {
				first := ""
				for range 2 {
					w.config.Disturb = func() {
						for range rand.IntN(3) {
							runtime.Gosched()
						}
					}
					tr, err := sim.Run(w.config)
					if err != nil {
						t.Fatalf("%s, %s/%s: %v", l.kind, st.name, w.name, err)
					}
					if first == "" {
						first = tr.Hash()
					}
					if tr.Hash() != first {
						t.Errorf("%s, %s/%s: the trace is not the same each time", l.kind, st.name, w.name)
						break
					}
				}
			}
		}
	}
}
