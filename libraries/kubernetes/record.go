package kubernetes

import (
	"context"
	"sync"

	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/locksim/locksim/locks"
)

// A record is a lock of client-go's that notes what was written with it: the library keeps
// to itself which term it is that it leads in.
//
// All that an elector asks for a timer has told it to, or who waits for it. The timers of a
// paused process do not fire before it goes on; client-go's, which are not on the process's
// clock, do. So what it asks waits for that clock here.
type record struct {
	resourcelock.Interface
	env  *locks.Env
	life context.Context

	mu      sync.Mutex
	written resourcelock.LeaderElectionRecord
}

// runs returns when the process runs, or at once if the context of what is to be asked has ended;
// an error says that the process has.
func (r *record) runs(ctx context.Context) error {
	if r.env.Woken != nil {
		r.env.Woken(ctx, "election", r.Interface.Describe(), r.Interface.Identity())
	}
	return r.life.Err()
}

// Get is as in [resourcelock.Interface].
func (r *record) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if err := r.runs(ctx); err != nil {
		return nil, nil, err
	}
	return r.Interface.Get(ctx)
}

// Create is as in [resourcelock.Interface].
func (r *record) Create(ctx context.Context, is resourcelock.LeaderElectionRecord) error {
	if err := r.runs(ctx); err != nil {
		return err
	}
	return r.note(r.Interface.Create(ctx, is), is)
}

// Update is as in [resourcelock.Interface].
func (r *record) Update(ctx context.Context, is resourcelock.LeaderElectionRecord) error {
	if err := r.runs(ctx); err != nil {
		return err
	}
	return r.note(r.Interface.Update(ctx, is), is)
}

func (r *record) note(err error, is resourcelock.LeaderElectionRecord) error {
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.written = is
	}
	return err
}

// token is the number of the term: how often the Lease had gone from one holder to another
// when it was last written, and 1 more, so that the first is no 0.
func (r *record) token() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return uint64(r.written.LeaderTransitions) + 1
}

// released says that the last thing written was that nobody holds the Lease.
func (r *record) released() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.written.HolderIdentity == ""
}
