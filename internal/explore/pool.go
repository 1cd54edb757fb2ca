package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/workers"
	"github.com/locksim/locksim/trace"
)

// A Pool runs worlds in processes of their own, several at once. A lock that ends
// its process, or never returns, costs one world: it is an outcome in which both
// runs broke, by a panic or by hanging.
type Pool struct {
	command func() *exec.Cmd
	bases   []sentBase
	silence time.Duration
	// open is done when the pool is closed.
	open  context.Context
	close context.CancelFunc
	// seats are taken by the worlds that workers have.
	seats       chan struct{}
	mu          sync.Mutex // guards workerSlot.worlds
	workerSlots []*workerSlot
	busy        atomic.Int64
}

// A workerSlot has one worker after another.
type workerSlot struct {
	worlds int
	// sharing is read-locked by the worlds that its worker has, and locked by one that
	// must be alone with it.
	sharing  sync.RWMutex
	staffing sync.Mutex // guards worker
	worker   *workers.Worker
}

// DefaultSilence is for how long a worker may say nothing if nobody says otherwise.
const DefaultSilence = time.Minute

// ErrClosed is returned for a world that a pool did not run because it was closed.
var ErrClosed = errors.New("explore: the pool of workers is closed")

// NewPool starts the workers of a pool, as many as jobs says. Each is a process
// that command makes and that calls [Serve]. One that says nothing about a world for
// as long as silence is taken to hang; 0 is [DefaultSilence]. An error says why
// the workers cannot be started.
//
// Only when every worker has a world are they given others ahead, [workers.Ahead]
// each: 1 + workers.Ahead calls of Run at once for each job use a pool fully.
func NewPool(jobs int, command func() *exec.Cmd, bases []Base, silence time.Duration) (*Pool, error) {
	if jobs < 1 {
		return nil, fmt.Errorf("explore: %d workers can do nothing; it takes at least 1", jobs)
	}
	if silence == 0 {
		silence = DefaultSilence
	}
	p := &Pool{command: command, silence: silence, seats: make(chan struct{}, perWorker*jobs)}
	p.open, p.close = context.WithCancel(context.Background())
	for _, b := range bases {
		p.bases = append(p.bases, sentBase{Name: b.Name, Text: b.Text, Seed: b.Seed})
	}
	started := make(chan error, jobs)
	for range jobs {
		d := new(workerSlot)
		p.workerSlots = append(p.workerSlots, d)
		go func() {
			_, err := p.staff(context.Background(), d)
			started <- err
		}()
	}
	var failed error
	for range jobs {
		if err := <-started; err != nil && failed == nil {
			failed = err
			p.close() // there is no use in waiting for the others
		}
	}
	if failed != nil {
		p.Close()
		return nil, failed
	}
	return p, nil
}

// Run runs a world in some worker. If ctx is done first it returns at once; the
// world is finished for nobody.
func (p *Pool) Run(ctx context.Context, w World) (Outcome, error) {
	if err := p.over(ctx); err != nil {
		return Outcome{}, err
	}
	select {
	case p.seats <- struct{}{}:
	case <-ctx.Done():
		return Outcome{}, p.over(ctx)
	case <-p.open.Done():
		return Outcome{}, p.over(ctx)
	}
	d := p.sit()
	defer p.rise(d)
	return p.run(ctx, d, w)
}

// over says why no world need be run any more, if so.
func (p *Pool) over(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case p.open.Err() != nil:
		return ErrClosed
	}
	return nil
}

// perWorker is how many worlds a worker can have: one that it runs, and others that
// come next.
const perWorker = 1 + workers.Ahead

// sit finds the slot with the least to do.
func (p *Pool) sit() *workerSlot {
	p.mu.Lock()
	defer p.mu.Unlock()
	least := p.workerSlots[0]
	for _, d := range p.workerSlots {
		if d.worlds < least.worlds {
			least = d
		}
	}
	least.worlds++
	return least
}

func (p *Pool) rise(d *workerSlot) {
	p.mu.Lock()
	d.worlds--
	p.mu.Unlock()
	<-p.seats
}

// run has a world run in a slot.
func (p *Pool) run(ctx context.Context, d *workerSlot, w World) (Outcome, error) {
	killed, alone := false, false
	for {
		leave := d.enter(alone)
		worker, err := p.staff(ctx, d)
		if err != nil {
			leave()
			return Outcome{}, cmp.Or(p.over(ctx), err)
		}
		var r workReply
		err = worker.Do(ctx, workOrder{World: w.send()}, &r, nil)
		p.busy.Add(int64(r.Busy))
		if err != nil && ctx.Err() == nil || r.Spent {
			d.dismiss(worker)
		}
		leave()
		var death *workers.Death
		switch {
		case err == nil && r.Error != "":
			return Outcome{}, errors.New(r.Error)
		case err == nil:
			r.Outcome.Grounds = r.Grounds
			return r.Outcome, nil
		case p.over(ctx) != nil:
			return Outcome{}, p.over(ctx)
		case errors.Is(err, workers.ErrGone):
			// It died of this world or of another, or was let go after another.
			alone = true
		case !errors.As(err, &death):
			return Outcome{}, err
		case death.Signalled && !killed:
			// That was somebody else, and not the lock, unless it happens again.
			killed = true
		default:
			return obituary(*death), nil
		}
	}
}

// enter is for a world that is going to have the slot's worker, with others or alone.
func (d *workerSlot) enter(alone bool) (leave func()) {
	if alone {
		d.sharing.Lock()
		return d.sharing.Unlock
	}
	d.sharing.RLock()
	return d.sharing.RUnlock
}

// staff returns the worker in a slot, and hires one if there is none.
func (p *Pool) staff(ctx context.Context, d *workerSlot) (*workers.Worker, error) {
	d.staffing.Lock()
	defer d.staffing.Unlock()
	if err := p.over(ctx); err != nil {
		return nil, err
	}
	if d.worker != nil {
		return d.worker, nil
	}
	w, err := workers.Hire(p.command(), p.silence)
	if err != nil {
		return nil, fmt.Errorf("explore: %w", err)
	}
	// Whoever closes the pool need not wait until the worker is ready.
	stop := context.AfterFunc(p.open, w.LetGo)
	defer stop()
	var r workReply
	switch err := w.Do(ctx, workOrder{Bases: p.bases}, &r, nil); {
	case p.over(ctx) != nil:
		w.LetGo()
		return nil, p.over(ctx)
	case err != nil:
		w.LetGo()
		var death *workers.Death
		if errors.As(err, &death) {
			return nil, fmt.Errorf("explore: a worker does not start: it %w", death)
		}
		return nil, fmt.Errorf("explore: a worker does not start: %w", err)
	case r.Error != "":
		w.LetGo()
		return nil, fmt.Errorf("explore: the worker cannot run these worlds: %s", r.Error)
	}
	d.worker = w
	return w, nil
}

// dismiss lets a worker go, for another one to take its slot.
func (d *workerSlot) dismiss(w *workers.Worker) {
	d.staffing.Lock()
	if d.worker == w {
		d.worker = nil
	}
	d.staffing.Unlock()
	w.LetGo()
}

// Busy is how long workers have spent in worlds so far, all together. Worlds that
// cost a worker do not count.
func (p *Pool) Busy() time.Duration { return time.Duration(p.busy.Load()) }

// Close ends the workers at once. Worlds that they have are over with [ErrClosed].
func (p *Pool) Close() error {
	p.close()
	for _, d := range p.workerSlots {
		d.staffing.Lock()
		w := d.worker
		d.staffing.Unlock()
		if w != nil {
			w.LetGo()
		}
	}
	return nil
}

// obituary is the outcome of a world that cost its worker.
func obituary(d workers.Death) Outcome {
	what := trace.ConductPanic
	if d.Silence > 0 {
		what = trace.ConductHang
	}
	why := "the process that ran it "
	if d.Panic != "" {
		why = shortStack(why + "died: " + d.Said)
	} else {
		d.Said = "" // it may be of a world before this one
		why += d.Error()
	}
	r := Run{Breaks: []Break{{What: what, Fault: checks.FaultLock, Why: why}}}
	return Outcome{Off: r, On: r}
}
