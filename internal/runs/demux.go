package runs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
)

// A worker writes its messages to its standard output, where a job may print too. These
// marks begin the lines that are messages. The rest of such a line is JSON.
const (
	noteMark   = "\x1enote "
	answerMark = "\x1eanswer "
	// lastAnswerMark begins an answer after which the worker answers nothing more.
	lastAnswerMark = "\x1elast "
)

// A reply is one message of a worker: a note on the progress of an order, or the answer to the
// order.
type reply struct {
	// mark begins the line, and json is the rest of it.
	mark string
	json []byte
}

// decode decodes the reply into target, a pointer.
func (r reply) decode(target any) error {
	if err := json.Unmarshal(r.json, target); err != nil {
		return fmt.Errorf("cannot decode the worker's answer: %w: %.100s", err, r.json)
	}
	return nil
}

// A demux receives the standard output of a worker process. It separates the messages of
// the worker from what the jobs print.
type demux struct {
	worker *worker
	// line is the current line, as far as it has arrived.
	line []byte
	// isForeign means that a job printed the line, and that its beginning has been passed
	// on already.
	isForeign bool
}

// Write receives the next part of the output.
func (e *demux) Write(b []byte) (int, error) {
	n := len(b)
	for {
		part, rest, hasLineEnd := bytes.Cut(b, []byte("\n"))
		e.line = append(e.line, part...)
		if !hasLineEnd {
			break
		}
		e.handleLine()
		e.line, e.isForeign = e.line[:0], false
		b = rest
	}
	// A part of a line that a job prints is passed on immediately, because a job may print
	// forever without ending a line.
	if len(e.line) > 0 && (e.isForeign || e.line[0] != answerMark[0]) {
		e.worker.printed.Write(e.line)
		e.line, e.isForeign = e.line[:0], true
	}
	return n, nil
}

// handleLine passes on a complete line, as a message or as printed text.
func (e *demux) handleLine() {
	for _, mark := range []string{answerMark, noteMark, lastAnswerMark} {
		if text, isMessage := bytes.CutPrefix(e.line, []byte(mark)); isMessage && !e.isForeign {
			select {
			case e.worker.replies <- reply{mark, bytes.Clone(text)}:
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

// Write adds text to the end.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	// The text may grow to twice the limit, so it is not moved at every write.
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
