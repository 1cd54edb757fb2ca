package kubernetes

import (
	"context"
	"sync"

	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/locksim/locksim/locks"
)

// A recordingLock is the object by which an elector of client-go reads and writes the
// Lease. It remembers what was last written, because client-go does not say in which term
// its client leads.
//
// It also delays requests while the process is paused. An elector sends a request when one
// of its timers fires. client-go's timers do not use the process's clock, so they fire
// during a pause too. The requests then wait here until the process runs.
type recordingLock struct {
	resourcelock.Interface
	env  *locks.Env
	life context.Context // ends with the process

	mu      sync.Mutex
	written resourcelock.LeaderElectionRecord
}

// waitUntilRunning returns when the process runs. If the context of the request ends first,
// it returns immediately. It returns an error if the process has ended.
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

// remember stores what was written, if the write succeeded.
func (r *recordingLock) remember(err error, record resourcelock.LeaderElectionRecord) error {
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.written = record
	}
	return err
}

// token returns the fencing token of the term. It is 1 more than the number of changes of
// the holder in the last write, so that the first token is not 0.
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
