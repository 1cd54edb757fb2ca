package locks_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/locksim/locksim/locks"
)

// A closing is an io.Closer that calls itself.
type closing func() error

func (c closing) Close() error { return c() }

// An object that the handles of one process share is made once. It is warmed up in the
// order in which such objects were made. It is closed with the process, whichever handle's
// environment is closed.
func TestHandlesOfOneProcess(t *testing.T) {
	var log []string // what happened, in order
	record := func(what string) { log = append(log, what) }
	first := &locks.Env{Key: "a", Client: "worker-1"}
	// session returns the shared object of the process.
	session := func(e *locks.Env) io.Closer {
		return locks.Share(e, "session", func() io.Closer {
			record("opened by " + e.Key)
			c := closing(func() error { record("closed"); return errors.New("closed late") })
			e.CloseLater(c)
			e.OnWarmUp(func(context.Context) { record("warm") })
			return c
		})
	}
	second := first.ForKey("b")
	session(second)
	session(first)
	if first.Key != "a" || second.Key != "b" || second.Client != "worker-1" {
		t.Errorf("the handles are %+v and %+v, want the keys a and b, and worker-1 as the client of both", first, second)
	}
	for _, e := range []*locks.Env{first, second} {
		e.Cleanup(func() { record("cleaned up " + e.Key) })
	}
	first.WarmUp(t.Context())
	life := second.Lifetime()
	if err := first.Close(); err == nil || err.Error() != "closed late" {
		t.Errorf("Close returned %v, want the error \"closed late\" of the shared object", err)
	}
	if life.Err() == nil {
		t.Error("the process's lifetime did not end with Close")
	}
	want := []string{"opened by b", "warm", "closed", "cleaned up b", "cleaned up a"}
	if !slices.Equal(log, want) {
		t.Errorf("what happened is %q, want %q", log, want)
	}
	if err := second.Close(); err != nil || len(log) != len(want) {
		t.Errorf("a second Close returned %v, and what happened is %q; want no error and nothing more", err, log)
	}
}
