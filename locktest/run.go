package locktest

import (
	"context"
	"errors"
	"flag"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/workers"
)

// run tells every story, each in a subtest, and what they came to.
func (s *subject) run(t *testing.T, call string) {
	t.Helper()
	seeds := s.seeds(t)
	staff := s.staff(call)
	all := s.stories()
	tasks := make([]*task, len(all))
	for i, st := range all {
		tasks[i] = &task{order: order{st.name, seeds, testing.Verbose(), selective(s.test)}, done: make(chan struct{})}
	}
	staff.begin()
	defer staff.end()
	if !selective(s.test) {
		go staff.queue(tasks) // the subtests take the results as they come
	}
	sum := &summary{subject: s}
	for i, st := range all {
		t.Run(st.name, func(t *testing.T) {
			if selective(s.test) {
				staff.queue(tasks[i : i+1])
			}
			<-tasks[i].done
			sum.add(st, tasks[i].outcome)
			s.report(t, st, tasks[i])
		})
	}
	if sum.told > 0 {
		t.Log(sum)
	}
}

// seeds is how many seeds each story is told on.
func (s *subject) seeds(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("LOCKSIM_SEEDS")
	if text == "" {
		return uint64(max(s.config.Seeds, 1))
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n == 0 {
		t.Fatalf("locktest: LOCKSIM_SEEDS is %q; give the number of seeds, at least 1", text)
	}
	return n
}

// selective says that -run or -skip chooses among the subtests of a test.
func selective(test string) bool {
	depth := strings.Count(test, "/") + 1
	return strings.Count(flagValue("test.run"), "/") >= depth || flagValue("test.skip") != ""
}

// flagValue is what a flag of the test's binary is set to.
func flagValue(name string) string {
	if f := flag.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// report tells what a story came to, as its subtest.
func (s *subject) report(t *testing.T, st story, k *task) {
	t.Helper()
	o := k.outcome
	if k.printed != "" {
		t.Logf("the lock printed:\n%s", k.printed)
	}
	if o.Timelines != "" {
		t.Logf("%s\n\n%s", st.title, o.Timelines)
	}
	if o.Share > 1 {
		t.Log(pacedBy(o.Share))
	}
	if o.Releases.Failed > 0 {
		t.Log(o.Releases)
	}
	for _, p := range o.Problems {
		t.Errorf("%s\nreplay: %s", p, s.replayLine(p.Address.String()))
	}
	if o.Failed > 1 {
		t.Logf("%d of %d worlds of this story fail", o.Failed, o.Worlds)
	}
	if len(o.Problems) > 0 {
		s.finding(k).Attr(t)
		return
	}
	for _, e := range o.Excused {
		t.Log(e)
	}
	switch {
	case o.Untold != "":
		t.Skip("cannot be told with this lock: " + o.Untold)
	case o.Unknown != "":
		t.Skip("unknown, which is no pass: " + o.Unknown)
	}
}

// A task is one story for some worker.
type task struct {
	order
	outcome outcome
	printed string
	done    chan struct{}
}

// A staff is workers that share tasks.
type staff struct {
	call    string
	silence time.Duration
	tasks   chan *task
	quit    chan struct{}
	work    sync.WaitGroup
}

// staff is one for the worlds of a call.
func (s *subject) staff(call string) *staff {
	return &staff{call: call, silence: s.silence(), tasks: make(chan *task)}
}

// begin gets the staff together: a worker for each processor, which starts its
// process when there is something to do.
func (s *staff) begin() {
	s.quit = make(chan struct{})
	for range runtime.GOMAXPROCS(0) {
		s.work.Go(s.serve)
	}
}

// queue hands out tasks until the staff is sent home.
func (s *staff) queue(tasks []*task) {
	for _, k := range tasks {
		select {
		case s.tasks <- k:
		case <-s.quit:
			return
		}
	}
}

// end sends the staff home, also from a story that nobody waits for any more.
func (s *staff) end() {
	close(s.quit)
	s.work.Wait()
}

// dismiss lets a worker go when the staff is sent home.
func (s *staff) dismiss(w *workers.Worker) {
	<-s.quit
	w.LetGo()
}

func (s *staff) serve() {
	var w *workers.Worker
	defer func() {
		if w != nil {
			w.LetGo()
		}
	}()
	for {
		select {
		case <-s.quit:
			return
		case k := <-s.tasks:
			if w == nil {
				var err error
				if w, err = workers.Hire(workerProcess(s.call), s.silence); err != nil {
					k.outcome = failed(address{Story: k.Story, Seed: 1}, ruleError, "no process to run the worlds in: "+err.Error(), "")
					close(k.done)
					continue
				}
				go s.dismiss(w)
			}
			at := k.Story
			err := w.Do(context.Background(), k.order, &k.outcome, func(world string) { at = world })
			k.printed = w.Printed()
			if err != nil {
				k.outcome = obituary(at, err)
			}
			if err != nil || k.outcome.Died {
				w.LetGo()
				w = nil
			}
			close(k.done)
		}
	}
}

// obituary is the outcome of a story in one of whose worlds the worker died.
func obituary(world string, err error) outcome {
	at, nowhere := parseAddress(world)
	var died *workers.Death
	if nowhere != nil || !errors.As(err, &died) {
		return failed(at, ruleError, "the process that ran it is of no use: "+err.Error(), "")
	}
	rule := rulePanic
	if died.Silence > 0 {
		rule = ruleHang
	}
	return failed(at, rule, "the process that ran it "+died.Error(), died.Said)
}

func failed(at address, rule, why, lines string) outcome {
	return outcome{Worlds: 1, Failed: 1, Problems: []problem{{rule, why, lines, at}}}
}
