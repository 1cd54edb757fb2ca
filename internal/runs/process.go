package runs

import (
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

// A worker is a process that carries out orders, as the pool that started it sees it.
type worker struct {
	process *exec.Cmd
	silence time.Duration
	orders  io.WriteCloser
	// heard has what the worker says, line by line.
	heard chan reply
	// spent says that it answers nothing more.
	spent bool
	// left is closed when the worker is let go, and ended when its process is no more.
	left  chan struct{}
	leave sync.Once
	ended chan struct{}
	// said is what the process wrote to its standard error, and printed what it wrote
	// to its standard output for others than us.
	said, printed tail
}

// startWorker starts a command as a worker, on one processor. The command's standard
// streams must not be set.
func startWorker(process *exec.Cmd, silence time.Duration) (*worker, error) {
	w := &worker{
		process: process, silence: silence,
		heard: make(chan reply), left: make(chan struct{}), ended: make(chan struct{}),
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
	return w, nil
}

// carryOut gives the worker jobs, all at once, and ends each with what the worker
// answers. Those that it has not answered are undone: it died, and death says how, or it
// has given the last answer of this process, or was let go.
func (w *worker) carryOut(jobs []*Job) (undone []*Job, death *Death) {
	var lines []byte
	for _, j := range jobs {
		lines = append(lines, j.line...)
	}
	// A process that reads nothing holds only this goroutine up. If the process is dead
	// already, that is noticed below.
	go w.orders.Write(lines)
	look := time.NewTicker(max(w.silence/looks, 1))
	defer look.Stop()
	silent, givenUp := 0, false
	for len(jobs) > 0 && !w.spent {
		select {
		case r := <-w.heard:
			silent = 0
			if r.mark == noted {
				jobs[0].noted(r)
				continue
			}
			w.spent = r.mark == answeredLast
			jobs[0].end(result{reply: r, printed: w.printed.take()})
			jobs = jobs[1:]
		case <-look.C:
			if silent++; silent > looks { // the first came soon
				givenUp = true
				w.process.Process.Kill()
			}
		case <-w.ended:
			return jobs, w.death(givenUp)
		case <-w.left:
			return jobs, nil
		}
	}
	return jobs, nil
}

// looks is how often a worker is looked after before it is given up. Time that
// passes while this process itself is stopped makes one look at most, so that a
// search that was suspended goes on.
const looks = 8

// letGo ends the worker at once, if there is one.
func (w *worker) letGo() {
	if w == nil {
		return
	}
	w.leave.Do(func() { close(w.left) })
	w.process.Process.Kill()
	<-w.ended
}
