package runs

import (
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

// A worker is a process that carries out orders, as seen by the pool that started it.
type worker struct {
	process *exec.Cmd
	silence time.Duration
	orders  io.WriteCloser
	// replies has the lines that the worker sends.
	heard chan reply
	// spent reports that the worker answers nothing more.
	spent bool
	// dismissed is closed when the worker is dismissed, and exited when its process has
	// ended.
	left  chan struct{}
	leave sync.Once
	ended chan struct{}
	// stderr is the last part of the process's standard error. printed is the last part of
	// its standard output, without the worker's lines.
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
	// A process that the job has started may hold the streams open forever.
	process.WaitDelay = time.Second
	var err error
	if w.orders, err = process.StdinPipe(); err != nil {
		return nil, fmt.Errorf("no worker: %w", err)
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("no worker: %w", err)
	}
	go func() {
		process.Wait() // its result is in ProcessState
		close(w.ended)
	}()
	return w, nil
}

// execute gives the worker all jobs, and finishes each with the worker's answer. undone are
// the jobs without an answer. In that case the worker died, as death describes, or it has
// sent its last answer, or it was dismissed.
func (w *worker) carryOut(jobs []*Job) (undone []*Job, death *Death) {
	var lines []byte
	for _, j := range jobs {
		lines = append(lines, j.line...)
	}
	// A process that does not read blocks only this goroutine. If the process is already
	// dead, the loop below notices it.
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
			if silent++; silent > looks { // the first tick may have come early
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

// silenceChecks is how often a silent worker is checked before it is killed. While this
// process itself is stopped, at most one check happens, so a search that was suspended can
// continue.
const looks = 8

// dismiss ends the worker immediately. A nil worker is allowed.
func (w *worker) letGo() {
	if w == nil {
		return
	}
	w.leave.Do(func() { close(w.left) })
	w.process.Process.Kill()
	<-w.ended
}
