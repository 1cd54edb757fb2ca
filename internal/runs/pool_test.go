package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/runs"
)

// serveVariable is the environment variable that makes the test's binary a worker for these
// tests. Its value selects what the worker does.
const serveVariable = "RUNS_TEST_SERVES"

// TestMain makes the test's binary a worker if [serveVariable] is set: a worker that carries
// out jobs, that runs fake worlds or real ones, that dies, or that does nothing.
func TestMain(m *testing.M) {
	switch os.Getenv(serveVariable) {
	case "":
		os.Exit(m.Run())
	case "jobs":
		runs.Serve(os.Stdin, os.Stdout, func(j job, note func(string)) (any, bool) {
			return doJob(j, note), j.Action == "is the last"
		})
	case "pretends":
		runs.ServeWorlds(os.Stdin, os.Stdout, func(bases []runs.Base) (runs.Backend, error) {
			if len(bases) == 0 {
				return nil, errors.New("there are no bases")
			}
			return fakeBackend{bases: bases}, nil
		})
	case "simulates":
		runs.ServeWorlds(os.Stdin, os.Stdout, func(bases []runs.Base) (runs.Backend, error) {
			return runs.NewLocal(bases, 10*time.Second), nil
		})
	case "dies":
		fmt.Fprintln(os.Stderr, "no such flag: -workers")
		os.Exit(2)
	case "nothing":
		time.Sleep(time.Hour)
	}
}

// A job is an order for a worker of these tests.
type job struct {
	Action string
	Text   string
}

// signalSelf sends this process a signal.
func signalSelf(signal os.Signal) {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		self.Signal(signal)
	}
}

// doJob does what the action of a job says. It returns the answer.
func doJob(j job, note func(string)) any {
	switch j.Action {
	case "repeats":
		return j.Text
	case "notes":
		for i := range 3 {
			note(fmt.Sprintf("%d\n", i))
		}
		return 3
	case "prints":
		fmt.Print(j.Text)
	case "panics":
		fmt.Fprintln(os.Stderr, "panic: not yet")
		go panic(j.Text)
		select {}
	case "faults":
		var mu sync.Mutex
		mu.Unlock()
	case "dozes":
		time.Sleep(100 * time.Millisecond)
		return j.Text
	case "dozes and exits":
		time.Sleep(100 * time.Millisecond)
		os.Exit(7)
	case "exits":
		fmt.Fprint(os.Stderr, j.Text)
		os.Exit(7)
	case "computes":
		for n := 0; ; n++ {
			_ = n
		}
	case "waits":
		select {}
	case "interrupted":
		signalSelf(os.Interrupt)
		return "went on"
	case "killed":
		signalSelf(os.Kill)
		select {}
	case "nonsense":
		return 3
	case "process":
		return fmt.Sprint(os.Getpid())
	case "processors":
		return os.Getenv("GOMAXPROCS")
	}
	return ""
}

// A testPool is a pool with a shorter way to run a job.
type testPool struct{ *runs.Pool }

// newTestPool makes a pool of one worker. ahead is how many orders the worker gets in
// advance.
func newTestPool(t testing.TB, serves string, silence time.Duration, ahead int) testPool {
	t.Helper()
	p, err := runs.NewPool(runs.PoolOptions{Workers: 1, MaxSilence: silence, Prefetch: ahead, Command: func() *exec.Cmd {
		process := exec.Command(os.Args[0])
		process.Env = append(os.Environ(), serveVariable+"="+serves, "GOTRACEBACK=single")
		return process
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return testPool{p}
}

// run has a job carried out, and stores the answer in answer, a pointer.
func (c testPool) run(ctx context.Context, j job, answer any, note func(string)) error {
	_, err := c.Wait(c.Submit(ctx, j, note), answer)
	return err
}

// An order and its answer arrive unchanged, however long they are.
func TestOrderAndAnswerArriveUnchanged(t *testing.T) {
	w := newTestPool(t, "jobs", time.Minute, 0)
	for _, text := range []string{"", "a\nb", "<\x1eanswer &", strings.Repeat("long ", 1<<18)} {
		var answer string
		if err := w.run(t.Context(), job{"repeats", text}, &answer, nil); err != nil || answer != text {
			t.Errorf("the answer to repeat %.20q is %.20q, %v", text, answer, err)
		}
	}
	var processors string
	if w.run(t.Context(), job{Action: "processors"}, &processors, nil); processors != "1" {
		t.Errorf("a worker has %s processors, want 1", processors)
	}
}

// The notes about an order arrive in their order, and before its answer.
func TestNotes(t *testing.T) {
	w := newTestPool(t, "jobs", time.Minute, 0)
	var notes []string
	var n int
	err := w.run(t.Context(), job{Action: "notes"}, &n, func(text string) { notes = append(notes, text) })
	if err != nil || n != 3 || strings.Join(notes, "") != "0\n1\n2\n" {
		t.Errorf("the notes are %q, and then the answer is %d, %v", notes, n, err)
	}
	if err := w.run(t.Context(), job{Action: "notes"}, &n, nil); err != nil {
		t.Errorf("an order without a func for its notes ends with %v", err)
	}
}

// What a job prints is separated from the worker's messages, even if both are on one line.
func TestOutputOfJobs(t *testing.T) {
	w := newTestPool(t, "jobs", time.Minute, 0)
	many := strings.Repeat("0123456789\n", 10_000)
	for text, want := range map[string]string{
		"no end of line": "no end of line\n",
		"two\nlines\n":   "two\nlines\n",
		"a \x1eanswer 3": "a \x1eanswer 3\n",
		many:             many[len(many)-32<<10:],
	} {
		got, err := w.Wait(w.Submit(t.Context(), job{"prints", text}, nil), new(string))
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%.40q was printed as %.40q, want %.40q", text, got, want)
		}
	}
}

// If a worker ends, the error of its order says how it ended, and another worker takes its
// place.
func TestWorkerDies(t *testing.T) {
	for _, c := range []struct {
		job
		want runs.Death
		says string // the text of the error
	}{
		{job{"panics", "oh no"}, runs.Death{Exit: "exit status 2", Panic: "panic: oh no"}, "died: panic: oh no"},
		{job{"faults", ""}, runs.Death{Exit: "exit status 2", Panic: "fatal error: sync: unlock of unlocked mutex"}, "died: fatal error: sync: unlock of unlocked mutex"},
		{job{"exits", ""}, runs.Death{Exit: "exit status 7"}, "died: exit status 7"},
		{job{"exits", "no\nmore\n"}, runs.Death{Exit: "exit status 7", Stderr: "no\nmore"}, "died: exit status 7: no"},
		{job{"killed", ""}, runs.Death{Exit: "signal: killed", Signalled: true}, "died: signal: killed"},
		{job{"computes", ""}, runs.Death{Exit: "signal: killed", Silence: 2 * time.Second}, "showed no sign of life for 2s"},
		{job{"waits", ""}, runs.Death{Exit: "signal: killed", Silence: 2 * time.Second}, "showed no sign of life for 2s"},
	} {
		t.Run(c.Action, func(t *testing.T) {
			t.Parallel()
			silence := c.want.Silence
			if silence == 0 {
				silence = time.Minute
			}
			w := newTestPool(t, "jobs", silence, 0)
			if err := w.run(t.Context(), job{Action: "repeats"}, new(string), nil); err != nil {
				t.Fatal(err)
			}
			err := w.run(t.Context(), c.job, new(string), nil)
			var death *runs.Death
			if !errors.As(err, &death) {
				t.Fatalf("the order ends with %v, want a *runs.Death", err)
			}
			if death.Error() != c.says {
				t.Errorf("the text of the error is %q, want %q", death, c.says)
			}
			if death.Panic != "" {
				if !strings.HasPrefix(death.Stderr, death.Panic+"\n") || !strings.Contains(death.Stderr, "\ngoroutine ") {
					t.Errorf("no stack after the panic:\n%s", death.Stderr)
				}
				death.Stderr = ""
			}
			if *death != c.want {
				t.Errorf("the order ends with %+v, want %+v", *death, c.want)
			}
			if err := w.run(t.Context(), job{Action: "repeats"}, new(string), nil); err != nil {
				t.Errorf("the next order ends with %v, want nil", err)
			}
		})
	}
}

// If a worker dies that has several orders, it is unknown which one was the cause. So each
// of them is then carried out alone.
func TestWorkerWithSeveralOrdersDies(t *testing.T) {
	w := newTestPool(t, "jobs", time.Minute, runs.MaxPrefetch)
	w.run(t.Context(), job{Action: "repeats"}, new(string), nil)
	slow := w.Submit(t.Context(), job{Action: "dozes"}, nil) // while the worker is busy with this order, the others come together
	var all []*runs.Job
	for _, j := range []job{{"repeats", "a"}, {"dozes and exits", ""}, {"repeats", "b"}, {"panics", "oh no"}, {"repeats", "c"}} {
		all = append(all, w.Submit(t.Context(), j, nil))
	}
	w.Wait(slow, new(string))
	var ends []string
	for _, j := range all {
		var answer string
		if _, err := w.Wait(j, &answer); err != nil {
			answer = err.Error()
		}
		ends = append(ends, answer)
	}
	if got, want := strings.Join(ends, ", "), "a, died: exit status 7, b, died: panic: oh no, c"; got != want {
		t.Errorf("the orders end with %s, want %s", got, want)
	}
}

// An answer is sent soon, even if the worker is busy with later orders that take long.
func TestAnswerIsSentSoon(t *testing.T) {
	w := newTestPool(t, "jobs", time.Minute, runs.MaxPrefetch)
	w.run(t.Context(), job{Action: "dozes"}, new(string), nil)
	began := time.Now()
	busy := w.Submit(t.Context(), job{Action: "dozes"}, nil)
	first := w.Submit(t.Context(), job{"repeats", "first"}, nil)
	w.Submit(t.Context(), job{Action: "waits"}, nil)
	w.Wait(busy, new(string))
	var answer string
	if _, err := w.Wait(first, &answer); err != nil || answer != "first" {
		t.Errorf("the answer is %q, %v; want first", answer, err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the answer took %v, want less than ten seconds", took)
	}
}

// If a worker already has an order that is cancelled, it still carries the order out. The
// answer is not taken for the answer to the next order.
func TestCancelledOrder(t *testing.T) {
	w := newTestPool(t, "jobs", time.Minute, 0)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var answer string
	if err := w.run(ctx, job{"dozes", "late"}, &answer, nil); !errors.Is(err, context.DeadlineExceeded) || answer != "" {
		t.Errorf("the cancelled order ends with %q, %v; want no answer and that the deadline is exceeded", answer, err)
	}
	if err := w.run(t.Context(), job{"repeats", "next"}, &answer, nil); err != nil || answer != "next" {
		t.Errorf("the next order ends with %q, %v; want next", answer, err)
	}
}

// A worker that has sent its last answer does nothing more. Another worker carries out the
// next order.
func TestLastAnswerOfAWorker(t *testing.T) {
	w := newTestPool(t, "jobs", time.Minute, runs.MaxPrefetch)
	var first, same, second string
	for _, j := range []struct {
		does   string
		answer *string
	}{{"process", &first}, {"process", &same}, {"is the last", new(string)}, {"process", &second}} {
		if err := w.run(t.Context(), job{Action: j.does}, j.answer, nil); err != nil {
			t.Fatal(err)
		}
	}
	if first != same || first == second {
		t.Errorf("the processes are %s, %s and, after the last answer, %s; want two that are equal and then another", first, same, second)
	}
}

// An interrupt does not end a worker: it is meant for the process with the pool.
func TestWorkerIgnoresInterrupt(t *testing.T) {
	w := newTestPool(t, "jobs", time.Minute, 0)
	var answer string
	if err := w.run(t.Context(), job{Action: "interrupted"}, &answer, nil); err != nil || answer != "went on" {
		t.Errorf("the order ends with %q, %v; want went on", answer, err)
	}
}

// A worker that reads no orders does not block the caller, not even with an order that is
// too long for the pipe.
func TestWorkerThatReadsNoOrders(t *testing.T) {
	w := newTestPool(t, "nothing", 200*time.Millisecond, 0)
	var death *runs.Death
	if err := w.run(t.Context(), job{"repeats", strings.Repeat("x", 1<<20)}, new(string), nil); !errors.As(err, &death) || death.Silence == 0 {
		t.Errorf("the order ends with %v, want that the worker is silent", err)
	}
}

// If an answer is not JSON, the error contains it.
func TestAnswerThatIsNotAText(t *testing.T) {
	w := newTestPool(t, "jobs", time.Minute, 0)
	err := w.run(t.Context(), job{Action: "nonsense"}, new(string), nil)
	if err == nil || !strings.HasSuffix(err.Error(), ": 3") {
		t.Errorf("the answer 3 instead of a text gives the error %v, want one that ends with the answer", err)
	}
}

// Closing a pool ends its workers immediately, even if they are busy.
func TestClosedPool(t *testing.T) {
	w := newTestPool(t, "jobs", time.Minute, 0)
	running, waiting := w.Submit(t.Context(), job{Action: "computes"}, nil), w.Submit(t.Context(), job{Action: "computes"}, nil)
	time.Sleep(50 * time.Millisecond)
	w.Close()
	for _, j := range []*runs.Job{running, waiting, w.Submit(t.Context(), job{Action: "repeats"}, nil)} {
		if _, err := w.Wait(j, new(string)); !errors.Is(err, runs.ErrClosed) {
			t.Errorf("an order ends with %v, want %v", err, runs.ErrClosed)
		}
	}
	w.Close()
}

// A worker exits when its input ends, even in the middle of an order.
func TestWorkerExitsWhenOrdersEnd(t *testing.T) {
	for _, action := range []string{"computes", "waits", "repeats"} {
		process := exec.Command(os.Args[0])
		process.Env = append(os.Environ(), serveVariable+"=jobs")
		in, err := process.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		for range 1 + runs.MaxPrefetch {
			json.NewEncoder(in).Encode(job{Action: action})
		}
		in.Close()
		if err := process.Wait(); err != nil {
			t.Errorf("%s: the worker ends with %v when there are no more orders", action, err)
		}
	}
}

// If no worker can be started for an order, the error of the order says so.
func TestWorkerThatCannotBeStarted(t *testing.T) {
	p, err := runs.NewPool(runs.PoolOptions{Workers: 1, Command: func() *exec.Cmd { return exec.Command("/no/such/program") }})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.Wait(p.Submit(t.Context(), job{}, nil), new(string)); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("an order whose worker cannot be started ends with %v, want an error that names the program", err)
	}
}

// BenchmarkPool measures how long an order takes if the worker has nothing to do for it.
func BenchmarkPool(b *testing.B) {
	w := newTestPool(b, "jobs", time.Minute, runs.MaxPrefetch)
	var all sync.WaitGroup
	for range 1 + runs.MaxPrefetch {
		all.Go(func() {
			for range b.N / (1 + runs.MaxPrefetch) {
				if err := w.run(b.Context(), job{Action: "repeats", Text: "a world with some faults"}, new(string), nil); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}
