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
	process    *exec.Cmd
	maxSilence time.Duration
	// orders is the worker's standard input. Each line of it is one job.
	orders io.WriteCloser
	// replies has the messages that the worker sends.
	replies chan reply
	// isSpent means that the worker has sent its last answer, and that a new one must take its
	// place.
	isSpent bool
	// dismissed is closed when the pool dismisses the worker. exited is closed when the
	// worker's process has ended.
	dismissed   chan struct{}
	dismissOnce sync.Once
	exited      chan struct{}
	// stderr is the last part of the process's standard error. printed is the last part of
	// its standard output, without the worker's messages.
	stderr, printed tail
}

// startWorker starts a command as a worker that uses one processor. The command's standard
// streams must not be set.
func startWorker(process *exec.Cmd, silence time.Duration) (*worker, error) {
	w := &worker{
		process: process, maxSilence: silence,
		replies: make(chan reply), dismissed: make(chan struct{}), exited: make(chan struct{}),
		stderr: tail{limit: 256 << 10}, printed: tail{limit: 32 << 10},
	}
	process.Env = append(process.Environ(), "GOMAXPROCS=1")
	process.Stdout, process.Stderr = &demux{worker: w}, &w.stderr
	// A process that the lock itself has started may hold the streams open forever. Do not
	// wait for it.
	process.WaitDelay = time.Second
	var err error
	if w.orders, err = process.StdinPipe(); err != nil {
		return nil, fmt.Errorf("cannot start a worker: %w", err)
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("cannot start a worker: %w", err)
	}
	go func() {
		process.Wait() // ProcessState has the result
		close(w.exited)
	}()
	return w, nil
}

// execute gives the worker all jobs, and finishes each job with the worker's answer. unanswered are
// the jobs without an answer. There are such jobs if the worker died, as death describes, if it has
// sent its last answer, or if it was dismissed.
func (w *worker) execute(jobs []*Job) (unanswered []*Job, death *Death) {
	var lines []byte
	for _, j := range jobs {
		lines = append(lines, j.line...)
	}
	// The write has a goroutine of its own: a process that does not read its input can block
	// only this goroutine. If the process is already dead, the loop below notices it.
	go w.orders.Write(lines)
	ticker := time.NewTicker(max(w.maxSilence/silenceChecks, 1))
	defer ticker.Stop()
	silentChecks, wasKilled := 0, false
	for len(jobs) > 0 && !w.isSpent {
		select {
		case r := <-w.replies:
			silentChecks = 0
			if r.mark == noteMark {
				jobs[0].passNote(r)
				continue
			}
			w.isSpent = r.mark == lastAnswerMark
			jobs[0].finish(result{reply: r, printed: w.printed.drain()})
			jobs = jobs[1:]
		case <-ticker.C:
			if silentChecks++; silentChecks > silenceChecks { // one check more, because the first tick may come early
				wasKilled = true
				w.process.Process.Kill()
			}
		case <-w.exited:
			return jobs, w.death(wasKilled)
		case <-w.dismissed:
			return jobs, nil
		}
	}
	return jobs, nil
}

// silenceChecks is the number of checks after which a silent worker is killed. The checks are
// spread over the time for which the worker may be silent. If this machine is suspended for a
// while, at most one check happens in the lost time. So the workers of a suspended search are
// not killed when the machine resumes.
const silenceChecks = 8

// dismiss ends the worker immediately. A nil worker is allowed.
func (w *worker) dismiss() {
	if w == nil {
		return
	}
	w.dismissOnce.Do(func() { close(w.dismissed) })
	w.process.Process.Kill()
	<-w.exited
}
