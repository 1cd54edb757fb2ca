package locks_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/locksim/locksim/locks"
)

type closing func() error

func (c closing) Close() error { return c() }

// An object that the handles of one process share is made once. It is warmed up in the
// order in which such objects were made. It is closed with the process, whichever handle's
// environment is closed.
func TestHandlesOfOneProcess(t *testing.T) {
	var did []string
	says := func(what string) { did = append(did, what) }
	first := &locks.Env{Key: "a", Client: "worker-1"}
	session := func(e *locks.Env) io.Closer {
		return locks.Share(e, "session", func() io.Closer {
			says("opened by " + e.Key)
			c := closing(func() error { says("closed"); return errors.New("closed late") })
			e.CloseLater(c)
			e.OnWarmUp(func(context.Context) { says("warm") })
			return c
		})
	}
	second := first.ForKey("b")
	session(second)
	session(first)
	if first.Key != "a" || second.Key != "b" || second.Client != "worker-1" {
		t.Errorf("the handles are %+v and %+v", first, second)
	}
	for _, e := range []*locks.Env{first, second} {
		e.Cleanup(func() { says("cleaned up " + e.Key) })
	}
	first.WarmUp(t.Context())
	life := second.Lifetime()
	if err := first.Close(); err == nil || err.Error() != "closed late" {
		t.Errorf("Close returned %v", err)
	}
	if life.Err() == nil {
		t.Error("the process's lifetime did not end")
	}
	want := []string{"opened by b", "warm", "closed", "cleaned up b", "cleaned up a"}
	if !slices.Equal(did, want) {
		t.Errorf("it did %q, want %q", did, want)
	}
	if err := second.Close(); err != nil || len(did) != len(want) {
		t.Errorf("a second Close: %v, %q", err, did)
	}
}
