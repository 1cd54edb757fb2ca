// Package runs says what a world is, runs it, and says what it came to.
//
// A [World] is a [Base] with faults. It comes to an [Outcome], which is small, and on
// request to an [Account] of all that happened. [Local] runs worlds in this process, and
// [Remote] in a [Pool] of workers: there a lock that panics in some goroutine, ends its
// process or never returns costs one world and nothing else.
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

// A Pool has orders carried out in processes of their own, several at once. Each is a
// process that calls [Serve], most often this program, started again with other
// arguments. An order that ends its process, or never returns, costs itself and nothing
// else.
type Pool struct {
	Terms
	// open is done when the pool is closed.
	open  context.Context
	close context.CancelFunc

	work sync.WaitGroup

	mu   sync.Mutex // guards waiting
	more sync.Cond
	// waiting are the jobs that no worker has been given.
	waiting []*Job
}

// Terms are how a pool has orders carried out.
type Terms struct {
	// Workers is how many processes there are.
	Workers int
	// Command makes the command of one. Its standard streams must not be set.
	Command func() *exec.Cmd
	// Silence is for how long a worker may say nothing while it has something to do; then
	// it is killed. 0 is a minute.
	Silence time.Duration
	// Ahead is how many orders a worker is given before their time, at most [Ahead], so
	// that it does not idle. What those print is not told apart.
	Ahead int
	// First, if not nil, is an order that each worker gets before any other, and that it
	// answers with "" or why it cannot carry out others. Then the workers start with the
	// pool, and otherwise when there is something for them to do.
	First any
}

// Ahead is how many orders a worker can be given before their time.
const Ahead = 15

// ErrClosed is returned for an order that was not carried out because the pool was closed.
var ErrClosed = errors.New("the pool of workers is closed")

// NewPool makes a pool. An error says why the workers cannot be started.
func NewPool(t Terms) (*Pool, error) {
	if t.Workers < 1 {
		return nil, fmt.Errorf("%d workers can do nothing; it takes at least 1", t.Workers)
	}
	if t.Silence == 0 {
		t.Silence = time.Minute
	}
	p := &Pool{Terms: t}
	p.more.L = &p.mu
	p.open, p.close = context.WithCancel(context.Background())
	started := make(chan error, t.Workers)
	for range t.Workers {
		p.work.Go(func() {
			var w *worker
			var err error
			if t.First != nil {
				w, err = p.start()
			}
			if started <- err; err == nil {
				p.serve(w)
			}
		})
	}
	for range t.Workers {
		if err := <-started; err != nil {
			p.Close() // there is no use in waiting for the others
			return nil, err
		}
	}
	return p, nil
}

// A Job is an order that was given.
type Job struct {
	line []byte
	ctx  context.Context
	note func(text string)
	// alone says that a worker is to have no other beside it: one has died that had several,
	// and nobody knows of which. killed says that one was killed by somebody else.
	alone, killed bool
	done          chan result
}

// A result is what became of a job.
type result struct {
	reply
	printed string
	err     error
}

func newJob(ctx context.Context, order any, note func(text string)) *Job {
	line, err := json.Marshal(order)
	if err != nil {
		panic(fmt.Sprintf("runs: an order that is no JSON: %v", err))
	}
	return &Job{line: append(line, '\n'), ctx: ctx, note: note, done: make(chan result, 1)}
}

func (j *Job) end(r result) { j.done <- r }

// noted passes on what a worker says of the job, if anybody wants to know.
func (j *Job) noted(r reply) {
	var text string
	if j.note != nil && r.understand(&text) == nil {
		j.note(text)
	}
}

// Give gives an order to the next worker that is free, and returns at once. What the
// worker notes while it carries it out goes to note, which may be nil. When ctx is done
// an order that no worker has been given yet is forgotten.
func (p *Pool) Give(ctx context.Context, order any, note func(text string)) *Job {
	j := newJob(ctx, order, note)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = append(p.waiting, j)
	p.more.Signal()
	return j
}

// Wait waits for the answer to an order and stores it in answer, a pointer. It also
// returns what was printed meanwhile: the last of it, if that is much. The error is a
// [*Death] if the order has ended its worker, that of the context if it is done, and
// [ErrClosed] if the pool was closed before.
func (p *Pool) Wait(j *Job, answer any) (printed string, err error) {
	if err := p.over(j.ctx); err != nil {
		return "", err
	}
	select {
	case r := <-j.done:
		if r.err != nil {
			return r.printed, r.err
		}
		return r.printed, r.understand(answer)
	case <-j.ctx.Done():
	case <-p.open.Done():
	}
	return "", p.over(j.ctx)
}

// over says why no order need be carried out any more, if so.
func (p *Pool) over(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case p.open.Err() != nil:
		return ErrClosed
	}
	return nil
}

// serve has jobs carried out by one worker after another, until the pool is closed.
func (p *Pool) serve(w *worker) {
	for jobs := p.take(); jobs != nil; jobs = p.take() {
		if w == nil {
			var err error
			if w, err = p.start(); err != nil {
				for _, j := range jobs {
					j.end(result{err: err})
				}
				continue
			}
		}
		stop := context.AfterFunc(p.open, w.letGo)
		undone, death := w.carryOut(jobs)
		stop()
		p.again(w, undone, death)
		if death != nil || w.spent {
			w.letGo()
			w = nil
		}
	}
	w.letGo()
}

// take waits for jobs to carry out, and leaves the other workers their share of them. It
// returns nil when the pool is closed.
func (p *Pool) take() []*Job {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		p.waiting = slices.DeleteFunc(p.waiting, func(j *Job) bool { return j.ctx.Err() != nil })
		if p.open.Err() != nil {
			return nil
		}
		if len(p.waiting) > 0 {
			break
		}
		p.more.Wait()
	}
	share := (len(p.waiting) + p.Workers - 1) / p.Workers
	n := 1
	for n < min(share, 1+p.Ahead) && !p.waiting[0].alone && !p.waiting[n].alone {
		n++
	}
	jobs := slices.Clone(p.waiting[:n])
	p.waiting = p.waiting[n:]
	return jobs
}

// again has jobs carried out that a worker has left undone, by other workers, unless it
// is known that the worker died of one.
func (p *Pool) again(w *worker, undone []*Job, death *Death) {
	if death != nil && len(undone) == 1 {
		// A worker that was killed was so by somebody else, and not by its job, unless it
		// happens again.
		j := undone[0]
		if !death.Signalled || j.killed {
			j.end(result{printed: w.printed.take(), err: death})
			return
		}
		j.killed = true
	}
	for _, j := range undone {
		j.alone = j.alone || death != nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = slices.Concat(undone, p.waiting)
	p.more.Broadcast()
}

// start starts a worker, and has it carry out what comes first.
func (p *Pool) start() (*worker, error) {
	w, err := startWorker(p.Command(), p.Silence)
	if err != nil || p.First == nil {
		return w, err
	}
	// Whoever closes the pool need not wait until the worker is ready.
	defer context.AfterFunc(p.open, w.letGo)()
	first := newJob(context.Background(), p.First, nil)
	if _, death := w.carryOut([]*Job{first}); death != nil {
		first.end(result{err: death})
	}
	var why string
	switch _, err = p.Wait(first, &why); {
	case errors.Is(err, ErrClosed):
	case err != nil:
		err = fmt.Errorf("a worker does not start: it %w", err)
	case why != "":
		err = fmt.Errorf("the worker cannot run these worlds: %s", why)
	}
	if err != nil {
		w.letGo()
	}
	return w, err
}

// Close ends the workers at once. Orders that they have end with [ErrClosed].
func (p *Pool) Close() {
	p.close()
	p.mu.Lock()
	p.more.Broadcast()
	p.mu.Unlock()
	p.work.Wait()
}
