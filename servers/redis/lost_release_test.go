package redis_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A backgroundLock is a lock whose release returns immediately. The actual release runs in
// a goroutine.
type backgroundLock struct{ locks.Lock }

type backgroundLease struct{ locks.Lease }

func (l backgroundLock) Acquire(ctx context.Context) (locks.Lease, error) {
	lease, err := l.Lock.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return backgroundLease{lease}, nil
}

func (l backgroundLease) Release(ctx context.Context) error {
	go func() { _ = l.Lease.Release(context.WithoutCancel(ctx)) }()
	return nil
}

// If the message of a release in the background is lost, the story says that the client
// believes that it has released the lock, but that its key remains.
func TestLostReleaseInTheBackground(t *testing.T) {
	for name, f := range map[string]sim.Fault{
		"client-1 is killed":               When("client-1 released", CrashOf("client-1", trace.Kill)),
		"client-1 is cut off from redis-1": When("client-1 released", &sim.Partition{Process: "client-1", From: []string{"redis-1"}}),
		"client-1 is paused":               Lasting(time.Minute, When("client-1 released", PauseOf("client-1"))),
		"client-1 is undisturbed":          When("client-1 finished", CrashOf("client-2", trace.Kill)),
	} {
		t.Run(name, func(t *testing.T) {
			for _, lock := range []string{"single", "redlock"} {
				kind := Lock(t, lock)
				newLock := kind.New
				kind.New = func(env *locks.Env) (locks.Lock, error) {
					l, err := newLock(env)
					return backgroundLock{l}, err
				}
				cfg := SectionsWorld(kind, sim.Client{Name: "client-1"}, sim.Client{Name: "client-2", Starts: Point("client-1 acquired")})
				cfg.Faults = []sim.Fault{f}
				tr := RunWorld(t, cfg)
				AllFaultsStruck(t, tr)
				want := name != "client-1 is undisturbed"
				found := false // whether the story says that the release was lost
				for _, c := range story.Clauses(history.New(tr), false) {
					predicate := string(c.Predicate)
					found = found || string(c.Subject) == "client-1" && strings.HasPrefix(predicate, "believes that it has released the lock, but its key remains on redis-1 until 30.0")
				}
				if found != want {
					t.Errorf("%s: the story says that the release was lost: %v, want %v", lock, found, want)
				}
			}
		})
	}
}
