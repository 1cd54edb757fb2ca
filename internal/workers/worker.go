package workers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

// A Worker is a process that does orders, as the one that hired it sees it. It may
// be used from several goroutines at once.
type Worker struct {
	process *exec.Cmd
	silence time.Duration
	orders  io.WriteCloser
	// seats are for the order that the worker does, and those given ahead.
	seats chan struct{}
	// post says that there are lines to send.
	post chan struct{}

	mu sync.Mutex // guards those down to the next empty line
	// lines are orders that are not sent yet.
	lines []byte
	// given are the orders that are not answered, in the order in which they are done.
	given []*given
	// silent counts the looks since it has last said something, or was given something
	// to do, and givenUp says that it was killed for it.
	silent  int
	givenUp bool

	// left is closed when the worker is let go, and ended when its process is no more.
	left  chan struct{}
	leave sync.Once
	ended chan struct{}
	// said is what the process wrote to its standard error, and printed what it wrote
	// to its standard output for others than us.
	said, printed tail
}

// A given order is one that the worker has not answered.
type given struct {
	// said is what the worker says about it.
	said chan reply
	// nobody is done when nobody listens any more.
	nobody <-chan struct{}
}

// ErrGone is returned for an order that a worker has not done because it is gone.
// Another one can be given it, alone: the worker may be gone because of it.
var ErrGone = errors.New("workers: the worker is gone")

// Hire starts a command as a worker, on one processor. It may say nothing for as
// long as silence while it has something to do; then it is killed. The command's
// standard streams must not be set.
func Hire(process *exec.Cmd, silence time.Duration) (*Worker, error) {
	w := &Worker{
		process: process, silence: silence,
		seats: make(chan struct{}, 1+Ahead), post: make(chan struct{}, 1), left: make(chan struct{}), ended: make(chan struct{}),
		said: tail{most: 256 << 10}, printed: tail{most: 32 << 10},
	}
	process.Env = append(process.Environ(), "GOMAXPROCS=1")
	process.Stdout, process.Stderr = &demux{worker: w}, &w.said
	// A process that the job has started may hold the streams open for ever.
	process.WaitDelay = time.Second
	var err error
	if w.orders, err = process.StdinPipe(); err != nil {
		return nil, fmt.Errorf("no worker: %w", err)
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("no worker: %w", err)
	}
	go func() {
		process.Wait() // ProcessState has what it returns
		close(w.ended)
	}()
	go w.send()
	go w.watch()
	return w, nil
}

// Do gives the worker an order and stores what it answers in answer, a pointer. What
// it notes meanwhile goes to note, which may be nil. When ctx is done Do returns at
// once; the order is done for nobody.
//
// Orders are done one after another. Of those given at the same time [Ahead] are sent
// before their time. A worker that dies with one order leaves a [*Death] to it. If it
// had several nobody knows of which it died, and all end with [ErrGone]. The worker
// must be let go after any error but that of ctx.
func (w *Worker) Do(ctx context.Context, order, answer any, note func(text string)) error {
	line, err := json.Marshal(order)
	if err != nil {
		return fmt.Errorf("workers: an order that is no JSON: %w", err)
	}
	g := &given{said: make(chan reply, 1), nobody: ctx.Done()}
	if err := w.give(ctx, g, append(line, '\n')); err != nil {
		return err
	}
	for {
		switch r, err := w.listen(ctx, g); {
		case err != nil:
			return err
		case r.mark == answered:
			return r.understand(answer)
		case note != nil:
			var text string
			if err := r.understand(&text); err != nil {
				return err
			}
			note(text)
		}
	}
}

// give has an order sent when there is a seat for it, unless nobody is there to read it.
func (w *Worker) give(ctx context.Context, g *given, line []byte) error {
	select {
	case w.seats <- struct{}{}:
	case <-w.ended:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-w.left:
		return ErrGone
	case <-w.ended: // it had nothing to do, or others are told
		return fmt.Errorf("%w: it %w", ErrGone, w.death())
	default:
	}
	w.mu.Lock()
	if len(w.given) == 0 {
		w.silent = 0
	}
	w.given = append(w.given, g)
	w.lines = append(w.lines, line...)
	w.mu.Unlock()
	select {
	case w.post <- struct{}{}:
	default: // it is sent with those that wait already
	}
	return nil
}

// send sends orders, as many at once as there are.
func (w *Worker) send() {
	var lines []byte
	for {
		select {
		case <-w.post:
		case <-w.ended:
			return
		}
		w.mu.Lock()
		lines, w.lines = w.lines, lines[:0]
		w.mu.Unlock()
		// A process that reads nothing holds us up until it is given up. If it is dead
		// already, listen will say so.
		w.orders.Write(lines)
	}
}

// listen waits for what the worker says about an order.
func (w *Worker) listen(ctx context.Context, g *given) (reply, error) {
	select {
	case r := <-g.said:
		return r, nil
	case <-ctx.Done():
		return reply{}, ctx.Err()
	case <-w.ended:
	}
	select {
	case r := <-g.said: // before it ended
		return r, nil
	default:
		return reply{}, w.obituary()
	}
}

// hear takes what the worker says, which is about the order that was given first.
func (w *Worker) hear(r reply) {
	w.mu.Lock()
	w.silent = 0
	if len(w.given) == 0 { // it was asked nothing
		w.mu.Unlock()
		return
	}
	g := w.given[0]
	if r.mark == answered {
		w.given = w.given[1:]
		<-w.seats
	}
	w.mu.Unlock()
	select {
	case g.said <- r:
	case <-g.nobody:
	case <-w.left:
	}
}

// looks is how often a worker is looked after before it is given up. Time that
// passes while this process itself is stopped makes one look at most, so that a
// search that was suspended goes on.
const looks = 8

// watch gives the worker up when it is silent for too long.
func (w *Worker) watch() {
	look := time.NewTicker(max(w.silence/looks, 1))
	defer look.Stop()
	for {
		select {
		case <-look.C:
		case <-w.ended:
			return
		}
		w.mu.Lock()
		if len(w.given) > 0 {
			w.silent++
		}
		if w.silent > looks { // the first came soon
			w.givenUp = true
			w.process.Process.Kill()
		}
		w.mu.Unlock()
	}
}

// Printed is what the jobs have printed since it was last called: the last of it,
// if that is much.
func (w *Worker) Printed() string { return w.printed.take() }

// LetGo ends the worker at once. Orders that are not done are over with [ErrGone].
func (w *Worker) LetGo() {
	w.leave.Do(func() { close(w.left) })
	w.process.Process.Kill()
	<-w.ended
}
