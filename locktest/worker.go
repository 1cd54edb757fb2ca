package locktest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// Worlds run in workers: processes that are the test's binary, started again for
// the one test. A worker reads orders from its standard input and writes replies
// to its standard output, a line of JSON each, the latter behind a mark that tells
// them from what the lock prints.

// workerVariable tells a worker whose worlds it runs.
const workerVariable = "LOCKSIM_WORKER"

// mark begins each reply.
const mark = "\x1elocksim "

// An order asks for one story.
type order struct {
	Story string
	Seeds uint64
	// Timelines asks for the timelines of the worlds that fail, All for those of all
	// worlds.
	Timelines, All bool
}

// A reply says which world comes next, or what the story came to.
type reply struct {
	World   *place   `json:",omitempty"`
	Outcome *outcome `json:",omitempty"`
}

var callsMade struct {
	sync.Mutex
	of map[string]int
}

// nextCall names a call of Run: by the test that makes it and how many it has made
// before.
func nextCall(test string) string {
	callsMade.Lock()
	defer callsMade.Unlock()
	if callsMade.of == nil {
		callsMade.of = map[string]int{}
	}
	callsMade.of[test]++
	return fmt.Sprintf("%s#%d", test, callsMade.of[test])
}

// serves says that this process is a worker for a call.
func serves(call string) bool { return os.Getenv(workerVariable) == call }

// servesAnother says that it is one, but not for this.
func servesAnother(call string) bool { return os.Getenv(workerVariable) != "" && !serves(call) }

// serve carries out orders until there are no more.
func (s *subject) serve() {
	// Worlds are many and short.
	debug.SetGCPercent(400)
	answer := func(r reply) {
		line, err := json.Marshal(r)
		if err != nil {
			panic(err) // a reply holds nothing that JSON cannot
		}
		// What the lock has printed may not have ended its line.
		fmt.Fprintf(os.Stdout, "\n%s%s\n", mark, line)
	}
	orders := make(chan order)
	go func() {
		in := json.NewDecoder(os.Stdin)
		for {
			var o order
			if err := in.Decode(&o); err != nil {
				// Whoever gives orders is gone, or done. A worker that hangs must not
				// stay behind.
				os.Exit(0)
			}
			orders <- o
		}
	}()
	for o := range orders {
		st, ok := find(o.Story)
		if !ok {
			answer(reply{Outcome: &outcome{Problems: []problem{{Rule: "error", Why: "there is no story " + o.Story}}}})
			continue
		}
		result := s.tellStory(st, o, func(p place) { answer(reply{World: &p}) })
		answer(reply{Outcome: &result})
	}
}

// A worker is such a process, as the one that started it sees it.
type worker struct {
	call    string
	process *exec.Cmd
	orders  io.WriteCloser
	lines   chan string
	stderr  *tail
}

// hire starts a worker.
func hire(call string) (*worker, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	test, _, _ := strings.Cut(call, "#")
	w := &worker{call: call, lines: make(chan string), stderr: &tail{}}
	w.process = exec.Command(binary, append([]string{
		"-test.run=" + pattern(test), "-test.count=1", "-test.timeout=0",
	}, ownArguments()...)...)
	w.process.Env = append(os.Environ(), workerVariable+"="+call, "GOMAXPROCS=1")
	w.process.Stderr = w.stderr
	if w.orders, err = w.process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := w.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.process.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(w.lines)
		in := bufio.NewReader(out)
		for {
			line, err := in.ReadString('\n')
			if line != "" {
				w.lines <- strings.TrimSuffix(line, "\n")
			}
			if err != nil {
				return
			}
		}
	}()
	return w, nil
}

// ownArguments are the flags that the test's own code has defined.
func ownArguments() []string {
	var own []string
	for _, a := range os.Args[1:] {
		if !strings.HasPrefix(a, "-test.") && !strings.HasPrefix(a, "--test.") {
			own = append(own, a)
		}
	}
	return own
}

// pattern is what -run needs to select one test.
func pattern(test string) string {
	var parts []string
	for _, part := range strings.Split(test, "/") {
		parts = append(parts, "^"+regexp.QuoteMeta(part)+"$")
	}
	return strings.Join(parts, "/")
}

// silence is how much real time may pass without a reply of a worker: far more
// than any world needs, since the worker itself gives up on one after patience.
const silence = time.Minute

var errSilent = errors.New("no sign of life")

// do has the worker carry out an order. printed is what the lock printed. If the
// worker died, the error says how, and at is the world in which it did; it must be
// let go then.
func (w *worker) do(o order) (result outcome, printed string, at place, err error) {
	at = place{Story: o.Story, Seed: 1}
	line, err := json.Marshal(o)
	if err != nil {
		return result, "", at, err
	}
	if _, err := w.orders.Write(append(line, '\n')); err != nil {
		return result, "", at, fmt.Errorf("it takes no orders: %w", err)
	}
	var own tail
	quiet := time.NewTimer(silence)
	defer quiet.Stop()
	for {
		select {
		case line, ok := <-w.lines:
			if !ok {
				w.process.Wait()
				return result, own.String(), at, fmt.Errorf("%s", w.process.ProcessState)
			}
			text, ours := strings.CutPrefix(line, mark)
			if !ours {
				if line != "" {
					own.Write([]byte(line + "\n"))
				}
				continue
			}
			quiet.Reset(silence)
			var r reply
			if err := json.Unmarshal([]byte(text), &r); err != nil {
				return result, own.String(), at, fmt.Errorf("it talks nonsense: %w", err)
			}
			if r.World != nil {
				at = *r.World
			}
			if r.Outcome != nil {
				return *r.Outcome, own.String(), at, nil
			}
		case <-quiet.C:
			return result, own.String(), at, fmt.Errorf("%w for %v", errSilent, silence)
		}
	}
}

// letGo ends the worker.
func (w *worker) letGo() {
	w.orders.Close()
	w.process.Process.Kill()
	for range w.lines {
	}
	w.process.Wait()
}

// A tail keeps the last of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// kept is how many bytes a tail keeps.
const kept = 32 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - kept; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
