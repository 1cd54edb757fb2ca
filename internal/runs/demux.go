package runs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
)

// What the lines of a worker begin with, which tells them from whatever the job prints. The
// rest is JSON.
const (
	noted    = "\x1enote "
	answered = "\x1eanswer "
	// answeredLast begins an answer after which the process answers nothing more.
	answeredLast = "\x1elast "
)

// A reply is one line of a worker.
type reply struct {
	mark string
	json []byte
}

// understand stores what the worker said.
func (r reply) understand(what any) error {
	if err := json.Unmarshal(r.json, what); err != nil {
		return fmt.Errorf("the worker said what nobody understands: %w: %.100s", err, r.json)
	}
	return nil
}

// A demux takes what a process writes to its standard output, and tells the lines of
// the worker from what the jobs print.
type demux struct {
	worker *worker
	// line is the beginning of a line.
	line []byte
	// foreign says that the line is not the worker's, and that what came before is
	// passed on already.
	foreign bool
}

func (e *demux) Write(b []byte) (int, error) {
	n := len(b)
	for {
		part, rest, whole := bytes.Cut(b, []byte("\n"))
		e.line = append(e.line, part...)
		if !whole {
			break
		}
		e.hear()
		e.line, e.foreign = e.line[:0], false
		b = rest
	}
	// A job may print for ever and never end a line.
	if len(e.line) > 0 && (e.foreign || e.line[0] != answered[0]) {
		e.worker.printed.Write(e.line)
		e.line, e.foreign = e.line[:0], true
	}
	return n, nil
}

// hear takes a line that is whole.
func (e *demux) hear() {
	for _, mark := range []string{answered, noted, answeredLast} {
		if said, own := bytes.CutPrefix(e.line, []byte(mark)); own && !e.foreign {
			select {
			case e.worker.heard <- reply{mark, bytes.Clone(said)}:
			case <-e.worker.left:
			}
			return
		}
	}
	if e.foreign || len(e.line) > 0 {
		e.worker.printed.Write(append(e.line, '\n'))
	}
}

// A tail keeps the last of what is written to it.
type tail struct {
	most int // bytes
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	// Twice as much is kept for a while: a tail that is cut at every line would do
	// nothing else.
	if len(t.text) > 2*t.most {
		t.text = append(t.text[:0], t.text[len(t.text)-t.most:]...)
	}
	return len(b), nil
}

// take empties the tail.
func (t *tail) take() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.text[max(0, len(t.text)-t.most):])
	t.text = nil
	return text
}
