package workers_test

import (
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
		workers.Serve(os.Stdin, os.Stdout, do)
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
		if err := w.Do(job{"repeats", text}, &answer, nil); err != nil || answer != text {
			t.Errorf("%.20q comes back as %.20q, %v", text, answer, err)
		}
	}
	var processors string
	if w.Do(job{Does: "processors"}, &processors, nil); processors != "1" {
		t.Errorf("a worker has %s processors, want 1", processors)
	}
}

// Notes come in order, and before the answer.
func TestNotes(t *testing.T) {
	w := hire(t, "jobs", time.Minute)
	var notes []string
	var n int
	err := w.Do(job{Does: "notes"}, &n, func(text string) { notes = append(notes, text) })
	if err != nil || n != 3 || strings.Join(notes, "") != "0\n1\n2\n" {
		t.Errorf("notes %q, then %d, %v", notes, n, err)
	}
	if err := w.Do(job{Does: "notes"}, &n, nil); err != nil {
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
		if err := w.Do(job{"prints", text}, new(string), nil); err != nil {
			t.Fatal(err)
		}
		if got := w.Printed(); got != want {
			t.Errorf("%.40q was printed as %.40q, want %.40q", text, got, want)
		}
	}
}

// A worker that ends says how. The orders that it had not begun are over too, and
// others take them.
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
			if err := w.Do(job{Does: "repeats"}, new(string), nil); err != nil {
				t.Fatal(err)
			}
			errs := make(chan error, 2)
			for range 2 {
				go func() { errs <- w.Do(c.job, new(string), nil) }()
			}
			first, second := <-errs, <-errs
			if errors.Is(first, workers.ErrGone) {
				first, second = second, first
			}
			var death *workers.Death
			if !errors.As(first, &death) {
				t.Fatalf("it ends with %v", first)
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
			if !errors.Is(second, workers.ErrGone) {
				t.Errorf("the other order ends with %v, want %v", second, workers.ErrGone)
			}
			if err := w.Do(c.job, new(string), nil); !errors.Is(err, workers.ErrGone) {
				t.Errorf("an order after that ends with %v, want %v", err, workers.ErrGone)
			}
		})
	}
}

// A worker outlives the interrupt that is meant for the one who hired it.
func TestInterrupt(t *testing.T) {
	w := hire(t, "jobs", time.Minute)
	var answer string
	if err := w.Do(job{Does: "interrupted"}, &answer, nil); err != nil || answer != "went on" {
		t.Errorf("%q, %v", answer, err)
	}
}

// A process that reads no orders holds nobody up, not even with one that fills the
// pipe.
func TestDeaf(t *testing.T) {
	w := hire(t, "nothing", 200*time.Millisecond)
	var death *workers.Death
	if err := w.Do(job{"repeats", strings.Repeat("x", 1<<20)}, new(string), nil); !errors.As(err, &death) || death.Silence == 0 {
		t.Errorf("it ends with %v", err)
	}
}

// An answer that is none is an error that shows it.
func TestNonsense(t *testing.T) {
	w := hire(t, "jobs", time.Minute)
	err := w.Do(job{Does: "nonsense"}, new(string), nil)
	if err == nil || !strings.HasSuffix(err.Error(), ": 3") {
		t.Errorf("a number where a text should be ends with %v", err)
	}
}

// A worker that is let go ends at once, whatever it does, and so does one whose
// orders end.
func TestLetGo(t *testing.T) {
	w := hire(t, "jobs", time.Minute)
	done := make(chan error)
	go func() { done <- w.Do(job{Does: "computes"}, new(string), nil) }()
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
				if err := w.Do(job{Does: "repeats", Text: "a world with some faults"}, new(string), nil); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}
