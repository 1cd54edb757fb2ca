package locktest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/locks"
)

// rounding is a lock that rounds its TTL when it sets a key's expiry: by the function set
// in acquire, and by the function extend in extend.
type rounding struct {
	env         *Env
	set, extend func(time.Duration) time.Duration
}

func (r rounding) Acquire(ctx context.Context) (locks.Lease, error) {
	lease := roundingLease{r, r.env.Client() + "/" + time.Now().String()}
	words := []any{"SET", r.env.Key(), lease.value, "NX"}
	if life := r.set(r.env.TTL()); life > 0 {
		words = append(words, "PX", life.Milliseconds())
	}
	err := r.env.Redis(0).Do(ctx, words...).Err()
	if errors.Is(err, redis.Nil) {
		err = locks.ErrNotAcquired
	}
	return lease, err
}

type roundingLease struct {
	rounding
	value string
}

var (
	removeIfOwn = redis.NewScript(`if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) end return 0`)
	extendIfOwn = redis.NewScript(`if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("pexpire",KEYS[1],ARGV[2]) end return 0`)
)

func (l roundingLease) Release(ctx context.Context) error {
	return removeIfOwn.Run(ctx, l.env.Redis(0), []string{l.env.Key()}, l.value).Err()
}

func (l roundingLease) Extend(ctx context.Context) error {
	n, err := extendIfOwn.Run(ctx, l.env.Redis(0), []string{l.env.Key()}, l.value, l.extend(l.env.TTL()).Milliseconds()).Int()
	if err == nil && n == 0 {
		err = locks.ErrLost
	}
	return err
}

// With a TTL that is not a whole number of seconds, the suite detects a lock that rounds
// its TTL down for the node, in acquire and in extend. A lock that rounds it up passes.
func TestRoundedTTL(t *testing.T) {
	roundDown := func(d time.Duration) time.Duration { return d.Truncate(time.Second) }
	roundToNearest := func(d time.Duration) time.Duration { return d.Round(time.Second) }
	roundUp := func(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }
	roundDownToOne := func(d time.Duration) time.Duration { return max(d.Truncate(time.Second), time.Second) }
	exact := func(d time.Duration) time.Duration { return d }
	for _, l := range []struct {
		name        string
		set, extend func(time.Duration) time.Duration
		// fraction and short are the rules that are violated in the test cases ttl/fraction
		// and ttl/short; "" for none.
		fraction, short string
	}{
		{"the TTL is exact", exact, exact, "", ""},
		{"the TTL is rounded up", roundUp, roundUp, "", ""},
		{"acquire rounds down to whole seconds", roundDown, exact, "lease-exclusion", "lease-exclusion,progress"},
		{"acquire rounds down, but to at least one second", roundDownToOne, exact, "lease-exclusion", "lease-exclusion"},
		{"acquire rounds to the nearest second", roundToNearest, exact, "lease-exclusion", "lease-exclusion,progress"},
		{"extend rounds down, but to at least one second", exact, roundDownToOne, "lease-exclusion", "lease-exclusion"},
	} {
		s, err := newSubject("Test", Config{Extends: true}, func(env *Env) (locks.Lock, error) {
			return rounding{env, l.set, l.extend}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"ttl/fraction": l.fraction, "ttl/short": l.short} {
			st, ok := findTestCase(name)
			if !ok {
				t.Fatalf("there is no test case %s", name)
			}
			o, _ := s.runTestCase(st, order{TestCase: name, Seeds: 1}, func(address) {})
			var rules []string
			for _, p := range o.Problems {
				if p.Rule != "section-exclusion" { // section-exclusion is violated only as a consequence of other violations
					rules = append(rules, string(p.Rule))
				}
			}
			slices.Sort(rules)
			if got := strings.Join(rules, ","); got != want || o.Unknown != "" {
				t.Errorf("%s, %s: got violations of %q, want %q; unknown because %q, problems %v", l.name, name, got, want, o.Unknown, o.Problems)
			}
		}
	}
}

// A lock may refuse a TTL when it is made. That does not fail the lock: the test case does
// not apply then, and gives the refusal as the reason.
func TestRefusedTTL(t *testing.T) {
	s, err := newSubject("Test", Config{}, func(env *Env) (locks.Lock, error) {
		if env.TTL() != 10*time.Second {
			return nil, errors.New("give me ten seconds")
		}
		exact := func(d time.Duration) time.Duration { return d }
		return rounding{env, exact, exact}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, refused := range map[string]string{"ttl/short": "1.4s", "catalogue/gc-pause": "30s"} {
		st, _ := findTestCase(name)
		o, _ := s.runTestCase(st, order{TestCase: st.name, Seeds: 1}, func(address) {})
		if len(o.Problems) > 0 || !strings.Contains(o.NotApplicable, "with a TTL of "+refused+": client-1: cannot make the lock: give me ten seconds") {
			t.Errorf("%s: got %v, not applicable because %q", name, o.Problems, o.NotApplicable)
		}
	}
}

// Locks without a mistake, of each kind that the suite distinguishes, pass the test cases
// about the TTL. Their runs are conclusive.
func TestTTLCasesOfSoundLocks(t *testing.T) {
	for _, l := range []struct {
		kind   string
		config Config
	}{
		{"single", Config{Extends: true, OwnClock: true}},
		{"single-token", Config{Extends: true, Tokens: true, OwnClock: true}},
		{"watchdog", Config{Notifies: true, OwnClock: true}},
		{"redlock", Config{Nodes: 3, Extends: true, OwnClock: true}},
		{"redlock", Config{Nodes: 5, Extends: true, OwnClock: true}},
	} {
		for _, st := range ttlCases() {
			o := runCase(t, l.kind, l.config, st.name)
			if len(o.Problems) > 0 || o.Unknown != "" || o.Worlds == 0 {
				t.Errorf("%s on %d nodes, %s in %d worlds: %v, %s", l.kind, l.config.Nodes, st.name, o.Worlds, o.Problems, o.Unknown)
			}
		}
	}
}
