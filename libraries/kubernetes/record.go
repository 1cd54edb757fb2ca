package kubernetes

import (
	"context"
	"sync"

	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/locksim/locksim/locks"
)

// A recordingLock is a lock of client-go that remembers what was written with it, because
// the library does not reveal in which term it leads.
//
// An elector sends its requests when a timer fires, or when a caller waits for them. The
// timers of a paused process must not fire before it resumes, but client-go's timers do,
// because they do not use the process's clock. So the requests wait here until the process
// runs.
type recordingLock struct {
	resourcelock.Interface
	env  *locks.Env
	life context.Context

	mu      sync.Mutex
	written resourcelock.LeaderElectionRecord
}

// waitUntilRunning returns when the process runs, or immediately if the request's context
// has ended. It returns an error if the process has ended.
func (r *recordingLock) waitUntilRunning(ctx context.Context) error {
	if r.env.WaitAfterTimer != nil {
		r.env.WaitAfterTimer(ctx, "election", r.Interface.Describe(), r.Interface.Identity())
	}
	return r.life.Err()
}

// Get implements [resourcelock.Interface].
func (r *recordingLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if err := r.waitUntilRunning(ctx); err != nil {
		return nil, nil, err
	}
	return r.Interface.Get(ctx)
}

// Create implements [resourcelock.Interface].
func (r *recordingLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := r.waitUntilRunning(ctx); err != nil {
		return err
	}
	return r.remember(r.Interface.Create(ctx, record), record)
}

// Update implements [resourcelock.Interface].
func (r *recordingLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := r.waitUntilRunning(ctx); err != nil {
		return err
	}
	return r.remember(r.Interface.Update(ctx, record), record)
}

func (r *recordingLock) remember(err error, record resourcelock.LeaderElectionRecord) error {
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.written = record
	}
	return err
}

// token returns the number of the term: how often the Lease had changed its holder when it
// was last written, plus 1, so that the first token is not 0.
func (r *recordingLock) token() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return uint64(r.written.LeaderTransitions) + 1
}

// released reports whether the last write removed the holder from the Lease.
func (r *recordingLock) released() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.written.HolderIdentity == ""
}
