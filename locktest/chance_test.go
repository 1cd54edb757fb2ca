package locktest

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/locks"
)

// jittery is a lock that waits for a random time before it asks.
type jittery struct{ locks.Lock }

func (l jittery) Acquire(ctx context.Context) (locks.Lease, error) {
	time.Sleep(rand.N(time.Millisecond))
	return l.Lock.Acquire(ctx)
}

// If a lock draws from a source that cannot be seeded, two runs of a world differ, and the
// suite says at which event. Otherwise they are the same.
func TestChance(t *testing.T) {
	sound := mutantConstructor(t, "single")
	for name, build := range map[string]New{
		"a lock without chance": sound,
		"a lock with jitter": func(env *Env) (locks.Lock, error) {
			lock, err := sound(env)
			return jittery{lock}, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := newSubject(t.Name(), Config{Notifies: true, Tokens: true, Extends: true}, build)
			if err != nil {
				t.Fatal(err)
			}
			sum := &summary{subject: s}
			for _, st := range conformanceCases() {
				o, _ := s.runTestCase(st, order{Seeds: 1}, func(address) {})
				sum.add(st, o)
			}
			want := name == "a lock with jitter"
			if got := sum.chance != nil; got != want {
				t.Fatalf("a difference between two runs was found: %v, want %v", got, want)
			}
			if want && !strings.Contains(sum.String(), "\n  first run:  0.00") {
				t.Errorf("the summary does not show the first difference:\n%s", sum)
			}
		})
	}
}
