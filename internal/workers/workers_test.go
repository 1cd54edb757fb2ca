package workers_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/workers"
)

// The workers of these tests are the test's binary, with this variable set.
const variable = "WORKERS_TEST_SERVES"

func TestMain(m *testing.M) {
	switch os.Getenv(variable) {
	case "":
		os.Exit(m.Run())
	case "jobs":
		workers.Serve(os.Stdin, os.Stdout, func(j job, note func(string)) (any, bool) {
			return do(j, note), j.Does == "is the last"
		})
	case "nothing":
		time.Sleep(time.Hour)
	}
}

// A job is what one of these workers is told to do.
type job struct {
	Does string
	Text string
}

func do(j job, note func(string)) any {
	switch j.Does {
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
		syscall.Kill(os.Getpid(), syscall.SIGINT)
		return "went on"
	case "killed":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "nonsense":
		return 3
	case "processors":
		return os.Getenv("GOMAXPROCS")
	}
	return ""
}

// hire starts a worker that is let go at the end of the test.
func hire(t *testing.T, serves string, silence time.Duration) *workers.Worker {
	t.Helper()
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), variable+"="+serves, "GOTRACEBACK=single")
	w, err := workers.Hire(process, silence)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.LetGo)
	return w
}

// Whatever a job is given and answers arrives as it was, however long it is.
func TestDo(t *testing.T) {
	w := hire(t, "jobs", time.Minute)
	for _, text := range []string{"", "a\nb", "<\x1eanswer &", strings.Repeat("long ", 1<<18)} {
		var answer string
		if err := w.Do(t.Context(), job{"repeats", text}, &answer, nil); err != nil || answer != text {
			t.Errorf("%.20q comes back as %.20q, %v", text, answer, err)
		}
	}
	var processors string
	if w.Do(t.Context(), job{Does: "processors"}, &processors, nil); processors != "1" {
		t.Errorf("a worker has %s processors, want 1", processors)
	}
}

// Notes come in order, and before the answer.
func TestNotes(t *testing.T) {
	w := hire(t, "jobs", time.Minute)
	var notes []string
	var n int
	err := w.Do(t.Context(), job{Does: "notes"}, &n, func(text string) { notes = append(notes, text) })
	if err != nil || n != 3 || strings.Join(notes, "") != "0\n1\n2\n" {
		t.Errorf("notes %q, then %d, %v", notes, n, err)
	}
	if err := w.Do(t.Context(), job{Does: "notes"}, &n, nil); err != nil {
		t.Errorf("notes that nobody wants: %v", err)
	}
}

// What a job prints is kept apart from what the worker says, also where the two meet
// in a line.
func TestPrinted(t *testing.T) {
	w := hire(t, "jobs", time.Minute)
	many := strings.Repeat("0123456789\n", 10_000)
	for text, want := range map[string]string{
		"no end of line": "no end of line\n",
		"two\nlines\n":   "two\nlines\n",
		"a \x1eanswer 3": "a \x1eanswer 3\n",
		many:             many[len(many)-32<<10:],
	} {
		if err := w.Do(t.Context(), job{"prints", text}, new(string), nil); err != nil {
			t.Fatal(err)
		}
		if got := w.Printed(); got != want {
			t.Errorf("%.40q was printed as %.40q, want %.40q", text, got, want)
		}
	}
}

// A worker that ends says how. Orders after that are for another.
func TestDeath(t *testing.T) {
	for _, c := range []struct {
		job
		want workers.Death
		says string
	}{
		{job{"panics", "oh no"}, workers.Death{Exit: "exit status 2", Panic: "panic: oh no"}, "died: panic: oh no"},
		{job{"faults", ""}, workers.Death{Exit: "exit status 2", Panic: "fatal error: sync: unlock of unlocked mutex"}, "died: fatal error: sync: unlock of unlocked mutex"},
		{job{"exits", ""}, workers.Death{Exit: "exit status 7"}, "died: exit status 7"},
		{job{"exits", "no\nmore\n"}, workers.Death{Exit: "exit status 7", Said: "no\nmore"}, "died: exit status 7: no"},
		{job{"killed", ""}, workers.Death{Exit: "signal: killed", Signalled: true}, "died: signal: killed"},
		{job{"computes", ""}, workers.Death{Exit: "signal: killed", Silence: 2 * time.Second}, "showed no sign of life for 2s"},
		{job{"waits", ""}, workers.Death{Exit: "signal: killed", Silence: 2 * time.Second}, "showed no sign of life for 2s"},
	} {
		t.Run(c.Does, func(t *testing.T) {
			t.Parallel()
			silence := c.want.Silence
			if silence == 0 {
				silence = time.Minute
			}
			w := hire(t, "jobs", silence)
			if err := w.Do(t.Context(), job{Does: "repeats"}, new(string), nil); err != nil {
				t.Fatal(err)
			}
			err := w.Do(t.Context(), c.job, new(string), nil)
			var death *workers.Death
			if !errors.As(err, &death) || errors.Is(err, workers.ErrGone) {
				t.Fatalf("it ends with %v", err)
			}
			if death.Error() != c.says {
				t.Errorf("it %v, want %q", death, c.says)
			}
			if death.Panic != "" {
				if !strings.HasPrefix(death.Said, death.Panic+"\n") || !strings.Contains(death.Said, "\ngoroutine ") {
					t.Errorf("no stack after the panic:\n%s", death.Said)
				}
				death.Said = ""
			}
			if *death != c.want {
				t.Errorf("it ends with %+v, want %+v", *death, c.want)
			}
			if err := w.Do(t.Context(), c.job, new(string), nil); !errors.Is(err, workers.ErrGone) {
				t.Errorf("an order after that ends with %v, want %v", err, workers.ErrGone)
			}
		})
	}
}

// each gives a worker orders at the same time, and lists how they end, in their order.
func each(t *testing.T, w *workers.Worker, jobs ...job) []error {
	errs := make([]error, len(jobs))
	var all sync.WaitGroup
	for i, j := range jobs {
		all.Go(func() { errs[i] = w.Do(t.Context(), j, new(string), nil) })
		if i == 0 {
			time.Sleep(50 * time.Millisecond) // the others come after it
		}
	}
	all.Wait()
	return errs
}

// Of which of its orders a worker died nobody knows, unless it had only one.
func TestDeathOfSeveral(t *testing.T) {
	w := hire(t, "jobs", time.Minute)
	for i, err := range each(t, w, job{"dozes and exits", ""}, job{"repeats", ""}, job{"repeats", ""}) {
		var death *workers.Death
		if !errors.Is(err, workers.ErrGone) || errors.As(err, &death) {
			t.Errorf("order %d ends with %v, want %v", i, err, workers.ErrGone)
		}
	}
}

// An answer does not wait for orders that take long.
func TestSoon(t *testing.T) {
	w := hire(t, "jobs", time.Minute)
	go func() {
		time.Sleep(50 * time.Millisecond)
		w.Do(t.Context(), job{Does: "waits"}, new(string), nil)
	}()
	began := time.Now()
	var answer string
	if err := w.Do(t.Context(), job{"dozes", "first"}, &answer, nil); err != nil || answer != "first" {
		t.Errorf("%q, %v", answer, err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the answer took %v", took)
	}
}

// An order that nobody waits for any more is done all the same, and its answer is not
// taken for that of the next.
func TestCancelled(t *testing.T) {
	w := hire(t, "jobs", time.Minute)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var answer string
	if err := w.Do(ctx, job{"dozes", "late"}, &answer, nil); !errors.Is(err, context.DeadlineExceeded) || answer != "" {
		t.Errorf("%q, %v", answer, err)
	}
	if err := w.Do(t.Context(), job{"repeats", "next"}, &answer, nil); err != nil || answer != "next" {
		t.Errorf("%q, %v", answer, err)
	}
}

// Nothing is done after an answer that is the last.
func TestLast(t *testing.T) {
	w := hire(t, "jobs", time.Minute)
	if err := w.Do(t.Context(), job{Does: "is the last"}, new(string), nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	for range 3 + workers.Ahead { // more than it has room for
		if err := w.Do(ctx, job{Does: "repeats"}, new(string), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("an order after that ends with %v", err)
		}
	}
}

// A worker outlives the interrupt that is meant for the one who hired it.
func TestInterrupt(t *testing.T) {
	w := hire(t, "jobs", time.Minute)
	var answer string
	if err := w.Do(t.Context(), job{Does: "interrupted"}, &answer, nil); err != nil || answer != "went on" {
		t.Errorf("%q, %v", answer, err)
	}
}

// A process that reads no orders holds nobody up, not even with one that fills the
// pipe.
func TestDeaf(t *testing.T) {
	w := hire(t, "nothing", 200*time.Millisecond)
	var death *workers.Death
	if err := w.Do(t.Context(), job{"repeats", strings.Repeat("x", 1<<20)}, new(string), nil); !errors.As(err, &death) || death.Silence == 0 {
		t.Errorf("it ends with %v", err)
	}
}

// An answer that is none is an error that shows it.
func TestNonsense(t *testing.T) {
	w := hire(t, "jobs", time.Minute)
	err := w.Do(t.Context(), job{Does: "nonsense"}, new(string), nil)
	if err == nil || !strings.HasSuffix(err.Error(), ": 3") {
		t.Errorf("a number where a text should be ends with %v", err)
	}
}

// A worker that is let go ends at once, whatever it does, and so does one whose
// orders end.
func TestLetGo(t *testing.T) {
	w := hire(t, "jobs", time.Minute)
	done := make(chan error)
	go func() { done <- w.Do(t.Context(), job{Does: "computes"}, new(string), nil) }()
	w.LetGo()
	if err := <-done; !errors.Is(err, workers.ErrGone) {
		t.Errorf("its order ends with %v, want %v", err, workers.ErrGone)
	}
	w.LetGo()
}

func TestOrdersEnd(t *testing.T) {
	for _, does := range []string{"computes", "waits", "repeats"} {
		process := exec.Command(os.Args[0])
		process.Env = append(os.Environ(), variable+"=jobs")
		in, err := process.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		for range 1 + workers.Ahead {
			json.NewEncoder(in).Encode(job{Does: does})
		}
		in.Close()
		if err := process.Wait(); err != nil {
			t.Errorf("%s: the worker ends with %v when there are no more orders", does, err)
		}
	}
}

func TestHireNobody(t *testing.T) {
	if _, err := workers.Hire(exec.Command("/no/such/program"), time.Minute); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("a program that is not there: %v", err)
	}
}

// BenchmarkDo is what an order costs that takes no time.
func BenchmarkDo(b *testing.B) {
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), variable+"=jobs")
	w, err := workers.Hire(process, time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	defer w.LetGo()
	var all sync.WaitGroup
	for range 1 + workers.Ahead {
		all.Go(func() {
			for range b.N / (1 + workers.Ahead) {
				if err := w.Do(b.Context(), job{Does: "repeats", Text: "a world with some faults"}, new(string), nil); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}
