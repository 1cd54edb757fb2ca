package workers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// A Worker is a process that does orders, as the one that hired it sees it. It may
// be used from several goroutines at once.
type Worker struct {
	process *exec.Cmd
	silence time.Duration
	orders  io.WriteCloser
	// seats are for the order that the worker does, and those given ahead.
	seats  chan struct{}
	giving sync.Mutex
	// turn is closed when the order given last is over.
	turn chan struct{}
	// over says that no order will be done any more. It is read and written by
	// whoever has the turn.
	over  bool
	heard chan reply
	// left is closed when the worker is let go, and ended when its process is no more.
	left   chan struct{}
	leave  sync.Once
	ended  chan struct{}
	silent atomic.Bool
	// said is what the process wrote to its standard error, and printed what it wrote
	// to its standard output for others than us.
	said, printed tail
}

// ErrGone is returned for an order that a worker did not begin, because it is gone.
// Another one can be given it.
var ErrGone = errors.New("workers: the worker is gone")

// Hire starts a command as a worker, on one processor. It may say nothing for as
// long as silence while it has something to do; then it is killed. The command's
// standard streams must not be set.
func Hire(process *exec.Cmd, silence time.Duration) (*Worker, error) {
	w := &Worker{
		process: process, silence: silence,
		seats: make(chan struct{}, 1+Ahead), turn: make(chan struct{}),
		heard: make(chan reply), left: make(chan struct{}), ended: make(chan struct{}),
		said: tail{most: 256 << 10}, printed: tail{most: 32 << 10},
	}
	close(w.turn)
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
	return w, nil
}

// Do gives the worker an order and stores what it answers in answer, a pointer. What
// it notes meanwhile goes to note, which may be nil.
//
// Orders are done one after another. Of those given at the same time [Ahead] are sent
// before their time. A worker that dies with an order leaves a [*Death] to it, and
// [ErrGone] to the others. The worker must be let go after any error.
func (w *Worker) Do(order, answer any, note func(text string)) error {
	line, err := json.Marshal(order)
	if err != nil {
		return fmt.Errorf("workers: an order that is no JSON: %w", err)
	}
	w.seats <- struct{}{}
	defer func() { <-w.seats }()
	given, turn, over := w.give(append(line, '\n'))
	<-turn
	defer close(over)
	switch {
	case w.over:
		return ErrGone
	case given:
		err = w.listen(answer, note)
	default: // it has died with nothing to do
		err = fmt.Errorf("%w: it %w", ErrGone, w.obituary())
	}
	w.over = err != nil
	return err
}

// give sends an order, unless nobody is there to read it. The order has its turn
// when turn is closed, and closes over in its own time.
func (w *Worker) give(line []byte) (given bool, turn, over chan struct{}) {
	w.giving.Lock()
	defer w.giving.Unlock()
	turn, over = w.turn, make(chan struct{})
	w.turn = over
	select {
	case <-w.ended:
		return false, turn, over
	default:
	}
	// A process that reads nothing could hold us up for ever. If it is dead
	// already, listen will say so.
	patience := time.AfterFunc(w.silence, w.giveUp)
	w.orders.Write(line)
	patience.Stop()
	return true, turn, over
}

// looks is how often a worker is looked after before it is given up. Time that
// passes while this process itself is stopped makes one look at most, so that a
// search that was suspended goes on.
const looks = 8

// listen waits for the answer to an order that has its turn.
func (w *Worker) listen(answer any, note func(text string)) error {
	look := time.NewTicker(max(w.silence/looks, 1))
	defer look.Stop()
	for silent := 0; ; {
		select {
		case said := <-w.heard:
			silent = 0
			switch {
			case said.mark == answered:
				if err := json.Unmarshal(said.json, answer); err != nil {
					return fmt.Errorf("workers: an answer that nobody understands: %w: %.100s", err, said.json)
				}
				return nil
			case note != nil:
				var text string
				if err := json.Unmarshal(said.json, &text); err != nil {
					return fmt.Errorf("workers: a note that nobody understands: %w: %.100s", err, said.json)
				}
				note(text)
			}
		case <-w.ended:
			return w.obituary()
		case <-look.C:
			if silent++; silent == looks {
				w.giveUp()
			}
		}
	}
}

// giveUp ends a worker that is silent.
func (w *Worker) giveUp() {
	w.silent.Store(true)
	w.process.Process.Kill()
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
