package runs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
)

// The beginnings of the lines of a worker, which distinguish them from what the job prints.
// The rest of the line is JSON.
const (
	noteMark   = "\x1enote "
	answerMark = "\x1eanswer "
	// lastAnswerMark begins the last answer of the process.
	lastAnswerMark = "\x1elast "
)

// A reply is one line of a worker.
type reply struct {
	mark string
	json []byte
}

// decode decodes the reply into what, a pointer.
func (r reply) decode(what any) error {
	if err := json.Unmarshal(r.json, what); err != nil {
		return fmt.Errorf("cannot decode the worker's answer: %w: %.100s", err, r.json)
	}
	return nil
}

// A demux reads the standard output of a process. It separates the lines of the worker from
// what the jobs print.
type demux struct {
	worker *worker
	// line is the current line so far.
	line []byte
	// isForeign reports that the line is not the worker's, and that its beginning has been
	// passed on already.
	isForeign bool
}

func (e *demux) Write(b []byte) (int, error) {
	n := len(b)
	for {
		part, rest, whole := bytes.Cut(b, []byte("\n"))
		e.line = append(e.line, part...)
		if !whole {
			break
		}
		e.handleLine()
		e.line, e.isForeign = e.line[:0], false
		b = rest
	}
	// A job may print forever without ending a line.
	if len(e.line) > 0 && (e.isForeign || e.line[0] != answerMark[0]) {
		e.worker.printed.Write(e.line)
		e.line, e.isForeign = e.line[:0], true
	}
	return n, nil
}

// handleLine handles a complete line.
func (e *demux) handleLine() {
	for _, mark := range []string{answerMark, noteMark, lastAnswerMark} {
		if said, own := bytes.CutPrefix(e.line, []byte(mark)); own && !e.isForeign {
			select {
			case e.worker.replies <- reply{mark, bytes.Clone(said)}:
			case <-e.worker.dismissed:
			}
			return
		}
	}
	if e.isForeign || len(e.line) > 0 {
		e.worker.printed.Write(append(e.line, '\n'))
	}
}

// A tail keeps the last part of what is written to it.
type tail struct {
	limit int // bytes
	mu    sync.Mutex
	text  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	// It keeps up to twice as much, so that it need not move the text at every write.
	if len(t.text) > 2*t.limit {
		t.text = append(t.text[:0], t.text[len(t.text)-t.limit:]...)
	}
	return len(b), nil
}

// drain returns the text and empties the tail.
func (t *tail) drain() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.text[max(0, len(t.text)-t.limit):])
	t.text = nil
	return text
}
