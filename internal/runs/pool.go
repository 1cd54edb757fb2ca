// Package runs describes worlds, runs them, and returns their results. A world is the
// simulated clients, nodes and storage of one run, with their faults.
//
// A [WorldSpec] describes a world: a [Base], which is a workload, with faults. Its result
// is a [WorldResult], which is small. A [RunReport] of all that happened in a run is made
// on request. [Local] runs worlds in this process, and [Remote] in a [Pool] of worker
// processes. In a pool, a lock that panics in some goroutine, ends its process or never
// returns costs only that one world.
package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"time"
)

// A Pool gives orders to workers, several at the same time. A worker is a process that calls
// [Serve], usually this program, started again with other arguments. If an order ends its
// process, or never returns, the other orders are carried out nevertheless.
type Pool struct {
	PoolOptions
	// lifetime is done when the pool is closed. close ends it.
	lifetime context.Context
	close    context.CancelFunc

	// workers waits for the goroutines, one for each worker.
	workers sync.WaitGroup

	mu   sync.Mutex // guards waiting
	wake sync.Cond
	// waiting are the jobs that no worker has received yet. wake is signalled when jobs are
	// added.
	waiting []*Job
}

// PoolOptions are the options of a pool.
type PoolOptions struct {
	// Workers is the number of processes.
	Workers int
	// Command makes the command of one worker. Its standard streams must not be set.
	Command func() *exec.Cmd
	// MaxSilence is how long a worker may send nothing while it has something to do. After
	// that time it is killed. 0 is a minute.
	MaxSilence time.Duration
	// Prefetch is how many orders a worker gets in advance, at most [MaxPrefetch], so that it is
	// never idle. What a worker prints while it has several orders cannot be assigned to one of
	// them.
	Prefetch int
	// Setup, if not nil, is an order that each worker gets before any other. The worker
	// answers it with "", or with the reason why it cannot carry out other orders. With a
	// Setup the workers start with the pool; otherwise they start when there is something
	// for them to do.
	Setup any
}

// MaxPrefetch is how many orders a worker can get in advance.
const MaxPrefetch = 15

// ErrClosed is the error for an order that was not carried out because the pool was closed.
var ErrClosed = errors.New("the pool of workers is closed")

// NewPool makes a pool. It returns an error if the workers cannot be started.
func NewPool(options PoolOptions) (*Pool, error) {
	if options.Workers < 1 {
		return nil, fmt.Errorf("a pool of %d workers cannot work; it needs at least 1", options.Workers)
	}
	if options.MaxSilence == 0 {
		options.MaxSilence = time.Minute
	}
	p := &Pool{PoolOptions: options}
	p.wake.L = &p.mu
	p.lifetime, p.close = context.WithCancel(context.Background())
	started := make(chan error, options.Workers)
	for range options.Workers {
		p.workers.Go(func() {
			var w *worker
			var err error
			if options.Setup != nil {
				w, err = p.start()
			}
			if started <- err; err == nil {
				p.serve(w)
			}
		})
	}
	for range options.Workers {
		if err := <-started; err != nil {
			p.Close() // the other workers need not start any more
			return nil, err
		}
	}
	return p, nil
}

// A Job is an order that was submitted.
type Job struct {
	// line is the order as a line of JSON. When ctx is done, the caller no longer wants the answer.
	// note, if not nil, gets the worker's notes on the job.
	line []byte
	ctx  context.Context
	note func(text string)
	// runAlone means that the job's worker must not have other jobs at the same time: a
	// worker that had several jobs died, and it is unknown which of them was the cause.
	// wasKilled means that another process has killed a worker of the job.
	runAlone, wasKilled bool
	done                chan result
}

// A result is the result of a job.
type result struct {
	reply
	printed string
	err     error
}

func newJob(ctx context.Context, order any, note func(text string)) *Job {
	line, err := json.Marshal(order)
	if err != nil {
		panic(fmt.Sprintf("runs: cannot encode an order as JSON: %v", err))
	}
	return &Job{line: append(line, '\n'), ctx: ctx, note: note, done: make(chan result, 1)}
}

// finish hands the result to Wait.
func (j *Job) finish(r result) { j.done <- r }

// passNote passes a worker's note about the job to the caller, if the caller wants notes.
func (j *Job) passNote(r reply) {
	var text string
	if j.note != nil && r.decode(&text) == nil {
		j.note(text)
	}
}

// Submit gives an order to the next free worker, and returns immediately. note, if not nil,
// is called with each note that the worker sends about the order. When ctx is done, an
// order that no worker has yet received is dropped.
func (p *Pool) Submit(ctx context.Context, order any, note func(text string)) *Job {
	job := newJob(ctx, order, note)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = append(p.waiting, job)
	p.wake.Signal()
	return job
}

// Wait waits for the answer to an order and stores it in answer, a pointer. It also returns
// the last part of what the job printed. The error is a [*Death] if the order has ended its
// worker. If the order's context is done, it is the error of the context. If the pool was
// closed before, it is [ErrClosed].
func (p *Pool) Wait(j *Job, answer any) (printed string, err error) {
	if err := p.stopError(j.ctx); err != nil {
		return "", err
	}
	select {
	case r := <-j.done:
		if r.err != nil {
			return r.printed, r.err
		}
		return r.printed, r.decode(answer)
	case <-j.ctx.Done():
	case <-p.lifetime.Done():
	}
	return "", p.stopError(j.ctx)
}

// stopError returns why orders need not be carried out any more, or nil.
func (p *Pool) stopError(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case p.lifetime.Err() != nil:
		return ErrClosed
	}
	return nil
}

// serve gives jobs to one worker at a time, until the pool is closed. When a worker has ended,
// serve starts another one. w is a worker that has already been started, or nil.
func (p *Pool) serve(w *worker) {
	for jobs := p.takeJobs(); jobs != nil; jobs = p.takeJobs() {
		if w == nil {
			var err error
			if w, err = p.start(); err != nil {
				for _, j := range jobs {
					j.finish(result{err: err})
				}
				continue
			}
		}
		stop := context.AfterFunc(p.lifetime, w.dismiss)
		undone, death := w.execute(jobs)
		stop()
		p.requeue(w, undone, death)
		if death != nil || w.isSpent {
			w.dismiss()
			w = nil
		}
	}
	w.dismiss()
}

// takeJobs waits for jobs, and removes this worker's share of them from the queue. It returns
// nil when the pool is closed.
func (p *Pool) takeJobs() []*Job {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		p.waiting = slices.DeleteFunc(p.waiting, func(j *Job) bool { return j.ctx.Err() != nil })
		if p.lifetime.Err() != nil {
			return nil
		}
		if len(p.waiting) > 0 {
			break
		}
		p.wake.Wait()
	}
	share := (len(p.waiting) + p.Workers - 1) / p.Workers
	n := 1
	for n < min(share, 1+p.Prefetch) && !p.waiting[0].runAlone && !p.waiting[n].runAlone {
		n++
	}
	jobs := slices.Clone(p.waiting[:n])
	p.waiting = p.waiting[n:]
	return jobs
}

// requeue puts the jobs that a worker has not answered back into the queue. If it is known
// which of them killed the worker, requeue finishes that job instead.
func (p *Pool) requeue(w *worker, unanswered []*Job, death *Death) {
	if death != nil && len(unanswered) == 1 {
		// A signal comes from another process, so it is not the job's fault, unless it
		// happens again.
		j := unanswered[0]
		if !death.Signalled || j.wasKilled {
			j.finish(result{printed: w.printed.drain(), err: death})
			return
		}
		j.wasKilled = true
	}
	for _, j := range unanswered {
		j.runAlone = j.runAlone || death != nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = slices.Concat(unanswered, p.waiting)
	p.wake.Broadcast()
}

// start starts a worker, and makes it carry out the setup order.
func (p *Pool) start() (*worker, error) {
	w, err := startWorker(p.Command(), p.MaxSilence)
	if err != nil || p.Setup == nil {
		return w, err
	}
	// If the pool is closed meanwhile, the worker is ended even before it is ready.
	defer context.AfterFunc(p.lifetime, w.dismiss)()
	first := newJob(context.Background(), p.Setup, nil)
	if _, death := w.execute([]*Job{first}); death != nil {
		first.finish(result{err: death})
	}
	var why string
	switch _, err = p.Wait(first, &why); {
	case errors.Is(err, ErrClosed):
	case err != nil:
		err = fmt.Errorf("a worker did not start: it %w", err)
	case why != "":
		err = fmt.Errorf("the worker cannot run these worlds: %s", why)
	}
	if err != nil {
		w.dismiss()
	}
	return w, err
}

// Close ends the workers immediately. Their orders end with [ErrClosed].
func (p *Pool) Close() {
	p.close()
	p.mu.Lock()
	p.wake.Broadcast()
	p.mu.Unlock()
	p.workers.Wait()
}
