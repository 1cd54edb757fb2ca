package runs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A fakeBackend runs no worlds: it calls runFake.
type fakeBackend struct {
	runs.Backend
	bases []runs.Base
}

func (p fakeBackend) Run(_ context.Context, w runs.WorldSpec) (runs.WorldResult, error) {
	return runFake(p.bases, w)
}

// runFake is what the workers of these tests do to run a world. The name of the world's first
// client says what to do, and the name of the second may be that of a file to use. The size of the
// fault only makes worlds different.
func runFake(bases []runs.Base, w runs.WorldSpec) (runs.WorldResult, error) {
	what, f := w.Change.Clients[0], w.Faults[0]
	newBrokenResult := func(what string) runs.WorldResult {
		return runs.WorldResult{Off: runs.RunResult{Breaks: []runs.Break{{What: what, Why: bases[0].Name}}}}
	}
	switch what {
	case "panics":
		go panic("oh no")
		select {}
	case "exits":
		fmt.Fprintln(os.Stderr, "panic, but not really")
		os.Exit(7)
	case "computes":
		for n := 0; ; n++ {
			_ = n
		}
	case "waits":
		select {}
	case "killed", "killed-once":
		seen := w.Change.Clients[1]
		if _, err := os.Stat(seen); err != nil || what == "killed" {
			os.WriteFile(seen, nil, 0o600)
			signalSelf(os.Kill)
			select {}
		}
	case "impossible":
		return runs.WorldResult{}, errors.New("nobody is called client-9")
	case "prints":
		fmt.Print("no end of line")
	case "hung":
		return newBrokenResult(trace.ConductHang), nil
	case "pid":
		return runs.WorldResult{Off: runs.RunResult{Behaviour: uint64(os.Getpid())}}, nil
	case "sleeps":
		time.Sleep(f.For)
	case "base":
		b := bases[w.Base]
		return newBrokenResult(fmt.Sprintf("%s %s %d", b.Name, b.Text, b.Seed)), nil
	}
	return runs.WorldResult{Off: runs.RunResult{Behaviour: uint64(f.For)}, On: runs.RunResult{Doubt: "two\nlines"}}, nil
}

// fakeWorld returns a world that makes [runFake] do what.
func fakeWorld(what string, size time.Duration) runs.WorldSpec {
	pause := runs.Fault{Fault: sim.Fault{Action: &sim.Pause{Process: "client-1"}, For: size}}
	return runs.WorldSpec{Change: scenarios.Change{Clients: []string{what}}, Faults: []runs.Fault{pause}}
}

// worker returns a function that makes the command of a worker. serves selects what the
// worker does.
func worker(serves string) func() *exec.Cmd {
	return func() *exec.Cmd {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), serveVariable+"="+serves, "GOTRACEBACK=single")
		return c
	}
}

var fakeBases = []runs.Base{{Name: "first", Text: []byte("lock: {}\n"), Seed: 3}, {Name: "second", Seed: 1 << 63}}

func newPool(t *testing.T, jobs int, silence time.Duration) *runs.Remote {
	t.Helper()
	p, err := runs.NewRemote(jobs, worker("pretends"), runs.NewLocal(fakeBases, time.Minute), silence)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// bothBroken returns the result of a world that has ended its worker: the same break in
// both runs.
func bothBroken(what, why string) runs.WorldResult {
	r := runs.RunResult{Breaks: []runs.Break{{What: what, Blame: checks.BlameLock, Why: why}}}
	return runs.WorldResult{Off: r, On: r}
}

// Whatever a world does to its worker, the world has a result, and there is a worker for
// the next world.
func TestPoolSurvivesItsWorlds(t *testing.T) {
	after := runs.WorldResult{Off: runs.RunResult{Behaviour: 5}, On: runs.RunResult{Doubt: "two\nlines"}}
	for what, want := range map[string]runs.WorldResult{
		"exits":    bothBroken("panic", "the process that ran it died: exit status 7"),
		"computes": bothBroken("hang", "the process that ran it showed no sign of life for 2s"),
		"waits":    bothBroken("hang", "the process that ran it showed no sign of life for 2s"),
		"killed":   bothBroken("panic", "the process that ran it died: signal: killed"),
		"prints":   after,
		"hung":     {Off: runs.RunResult{Breaks: []runs.Break{{What: "hang", Why: "first"}}}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			silence := time.Minute
			if what == "computes" || what == "waits" {
				silence = 2 * time.Second
			}
			p := newPool(t, 1, silence)
			w := fakeWorld(what, 5)
			w.Change.Clients = append(w.Change.Clients, t.TempDir()+"/seen")
			for range 2 {
				if got, err := p.Run(t.Context(), w); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("the world has the result %+v, %v; want %+v", got, err, want)
				}
				if got, err := p.Run(t.Context(), fakeWorld("nothing", 5)); err != nil || !reflect.DeepEqual(got, after) {
					t.Errorf("the next world has the result %+v, %v; want %+v", got, err, after)
				}
			}
		})
	}
}

// The result of a world that panics contains the stack, in the same words every time.
func TestPoolPanic(t *testing.T) {
	p := newPool(t, 1, 0)
	var breaks []runs.Break
	for range 3 {
		got, err := p.Run(t.Context(), fakeWorld("panics", 1))
		if err != nil || len(got.Off.Breaks) != 1 || !reflect.DeepEqual(got.Off, got.On) || got.Off.Breaks[0].What != "panic" {
			t.Fatalf("the result is %+v, %v; want a panic in both runs", got, err)
		}
		breaks = append(breaks, got.Off.Breaks[0])
		p.Run(t.Context(), fakeWorld("nothing", 1)) // the worker of the next panic has then run another world before
	}
	if first := breaks[0]; first.Why != "the process that ran it died: panic: oh no" || !strings.Contains(first.Stack, "runs_test.runFake") {
		t.Errorf("the reason is\n%s\n%s\nwant the panic and its stack", first.Why, first.Stack)
	}
	if breaks[0] != breaks[1] || breaks[0] != breaks[2] {
		t.Errorf("the same panic has different reasons:\n%v", breaks)
	}
}

// If another process kills a worker, the world is run again.
func TestPoolKilledFromOutside(t *testing.T) {
	p := newPool(t, 1, 0)
	w := fakeWorld("killed-once", 5)
	w.Change.Clients = append(w.Change.Clients, t.TempDir()+"/seen")
	if got, err := p.Run(t.Context(), w); err != nil || got.Off.Behaviour != 5 || got.Broke() {
		t.Errorf("the result is %+v, %v; want that of a world in which nothing breaks", got, err)
	}
}

// If something hangs in a world, it stays in its process. So the pool starts another
// process for the next world.
func TestPoolReplacesWorkerWithHungWorld(t *testing.T) {
	p := newPool(t, 1, 0)
	workerPID := func() uint64 {
		o, err := p.Run(t.Context(), fakeWorld("pid", 1))
		if err != nil {
			t.Fatal(err)
		}
		return o.Off.Behaviour
	}
	first := workerPID()
	if workerPID() != first {
		t.Error("two worlds are run by two workers, want one worker")
	}
	p.Run(t.Context(), fakeWorld("hung", 1))
	if workerPID() == first {
		t.Error("the next world is run by the worker in which a world hangs, want another worker")
	}
}

// If a world cannot be run, that is an error, and the worker continues.
func TestPoolReportsWorldThatCannotBeRun(t *testing.T) {
	p := newPool(t, 1, 0)
	if _, err := p.Run(t.Context(), fakeWorld("impossible", 1)); err == nil || err.Error() != "nobody is called client-9" {
		t.Errorf("the error is %v, want that of the world", err)
	}
	if _, err := p.Run(t.Context(), fakeWorld("nothing", 1)); err != nil {
		t.Error(err)
	}
}

// Workers receive the bases, and run each world in its own base.
func TestPoolBases(t *testing.T) {
	p := newPool(t, 1, 0)
	for i, want := range []string{"first lock: {}\n 3", "second  9223372036854775808"} {
		w := fakeWorld("base", 1)
		w.Base = i
		if got, err := p.Run(t.Context(), w); err != nil || got.Off.Breaks[0].What != want {
			t.Errorf("in base %d the result is %+v, %v; want %q", i, got, err, want)
		}
	}
}

// If the workers cannot be started, the error says why.
func TestPoolCannotStart(t *testing.T) {
	for want, p := range map[string]func() (*runs.Remote, error){
		"a pool of 0 workers cannot work; it needs at least 1": func() (*runs.Remote, error) {
			return runs.NewRemote(0, worker("pretends"), runs.NewLocal(fakeBases, time.Minute), 0)
		},
		"cannot start a worker: fork/exec /no/such/program: no such file or directory": func() (*runs.Remote, error) {
			return runs.NewRemote(2, func() *exec.Cmd { return exec.Command("/no/such/program") }, runs.NewLocal(fakeBases, time.Minute), 0)
		},
		"a worker did not start: it died: exit status 2: no such flag: -workers": func() (*runs.Remote, error) {
			return runs.NewRemote(2, worker("dies"), runs.NewLocal(fakeBases, time.Minute), 0)
		},
		"a worker did not start: it showed no sign of life for 200ms": func() (*runs.Remote, error) {
			return runs.NewRemote(2, worker("nothing"), runs.NewLocal(fakeBases, time.Minute), 200*time.Millisecond)
		},
		"the worker cannot run these worlds: there are no bases": func() (*runs.Remote, error) {
			return runs.NewRemote(2, worker("pretends"), runs.NewLocal(nil, time.Minute), 0)
		},
	} {
		if _, err := p(); err == nil || err.Error() != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

// A caller whose context is done does not wait for its world, and the pool continues to
// work.
func TestPoolCancelled(t *testing.T) {
	p := newPool(t, 1, 0)
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error)
	for range 3 + runs.MaxPrefetch { // two more worlds than the worker has at a time
		go func() {
			_, err := p.Run(ctx, fakeWorld("sleeps", 150*time.Millisecond))
			errs <- err
		}()
	}
	time.Sleep(50 * time.Millisecond)
	cancel()
	began := time.Now()
	for range 3 + runs.MaxPrefetch {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("a world ends with %v, want that the context is cancelled", err)
		}
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("giving up takes %v, want at most 1s", took)
	}
	if _, err := p.Run(ctx, fakeWorld("nothing", 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("a world whose context is done already ends with %v, want that the context is cancelled", err)
	}
	if o, err := p.Run(t.Context(), fakeWorld("nothing", 4)); err != nil || o.Off.Behaviour != 4 {
		t.Errorf("the next world has the result %+v, %v; want the behaviour 4", o, err)
	}
}

// A closed pool runs nothing more, and its error says so.
func TestPoolClosed(t *testing.T) {
	p := newPool(t, 2, 0)
	errs := make(chan error)
	for range 2 * (2 + runs.MaxPrefetch) {
		go func() {
			_, err := p.Run(t.Context(), fakeWorld("computes", 1))
			errs <- err
		}()
	}
	time.Sleep(50 * time.Millisecond)
	p.Close()
	for range 2 * (2 + runs.MaxPrefetch) {
		if err := <-errs; !errors.Is(err, runs.ErrClosed) {
			t.Errorf("a world ends with %v, want %v", err, runs.ErrClosed)
		}
	}
	if _, err := p.Run(t.Context(), fakeWorld("nothing", 1)); !errors.Is(err, runs.ErrClosed) {
		t.Errorf("a world of a closed pool ends with %v, want %v", err, runs.ErrClosed)
	}
}

// Two worlds at the same time are run by two workers, although one worker could take both
// in advance.
func TestPoolUsesAllWorkers(t *testing.T) {
	p := newPool(t, 2, 0)
	for range 2 {
		began := time.Now()
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() { p.Run(t.Context(), fakeWorld("sleeps", time.Second)) })
		}
		all.Wait()
		if took := time.Since(began); took > 1900*time.Millisecond {
			t.Errorf("two workers take %v for two worlds of a second each, want less than 1.9s", took)
		}
	}
}

// The result of a world depends neither on the number of workers nor on which worlds are
// run before and after it.
func TestPoolResultsDoNotDependOnWorkers(t *testing.T) {
	var worlds []runs.WorldSpec
	var want []runs.WorldResult
	for i := range 120 {
		w := fakeWorld("nothing", time.Duration(i))
		if i%13 == 4 {
			w = fakeWorld("exits", time.Duration(i))
		}
		if i%17 == 2 {
			w = fakeWorld("panics", time.Duration(i))
		}
		worlds = append(worlds, w)
	}
	for _, jobs := range []int{1, 2, 5} {
		p := newPool(t, jobs, 0)
		got := make([]runs.WorldResult, len(worlds))
		var all sync.WaitGroup
		next := make(chan int)
		for range 7 {
			all.Go(func() {
				for i := range next {
					var err error
					if got[i], err = p.Run(t.Context(), worlds[i]); err != nil {
						t.Errorf("world %d: %v", i, err)
					}
				}
			})
		}
		for i := range worlds {
			next <- i
		}
		close(next)
		all.Wait()
		if want == nil {
			want = got
			for i, o := range got {
				action := worlds[i].Change.Clients[0]
				if died := len(o.Off.Breaks) == 1 && o.Off.Breaks[0].What == "panic"; died != (action != "nothing") || !died && o.Off.Behaviour != uint64(i) {
					t.Errorf("world %d, whose worker does %q: the result is %+v", i, action, o)
				}
			}
		}
		for i := range got {
			if !reflect.DeepEqual(got[i], want[i]) {
				t.Errorf("world %d with %d workers: %+v, want %+v", i, jobs, got[i], want[i])
			}
		}
	}
}
