package locktest

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// jittery is a lock that waits for a random time before it asks.
type jittery struct{ locks.Lock }

func (l jittery) Acquire(ctx context.Context) (locks.Lease, error) {
	time.Sleep(rand.N(time.Millisecond))
	return l.Lock.Acquire(ctx)
}

// If a lock draws from a source that cannot be seeded, two runs of a world differ, and the
// suite says at which event. Otherwise they are the same.
func TestUnseededRandomnessIsReported(t *testing.T) {
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
			if !want {
				return
			}
			_, lines, _ := strings.Cut(sum.String(), "\n  first run:  ")
			first, rest, _ := strings.Cut(lines, "\n  second run: ")
			second, _, _ := strings.Cut(rest, "\n")
			if first == "" || second == "" || first == second || !strings.Contains(sum.String(), "it waits for a random time") {
				t.Errorf("the summary does not show the first difference and its source:\n%s", sum)
			}
		})
	}
}

// The first event that differs shows where the difference probably comes from.
func TestSourceOfDifference(t *testing.T) {
	sends := trace.Event{Seq: 3, At: time.Second, Kind: trace.KindSend, Process: "client-1", Peer: "redis-1", Text: "GET a"}
	later, otherNode, otherText, otherClient := sends, sends, sends, sends
	later.At, otherNode.Peer, otherText.Text, otherClient.Process = 2*time.Second, "redis-2", "GET b", "client-2"
	for want, second := range map[string]trace.Event{
		"The lock does the same at another time": later,
		"The lock asks another node":             otherNode,
		"The lock sends something else":          otherText,
	} {
		if got := sourceOf(&sends, &second); !strings.HasPrefix(got, want) {
			t.Errorf("the source of the difference is %q, want one that begins with %q; the second event is %+v", got, want, second)
		}
	}
	if got := sourceOf(&sends, &otherClient); got != "" {
		t.Errorf("events of two processes have the source %q, want none", got)
	}
}
