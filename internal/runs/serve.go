package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"time"
)

// flushDelay is how long a worker that has more orders may hold back an answer, so that it
// does not wake its pool for every answer.
const flushDelay = 20 * time.Millisecond

// Serve makes this process a worker of a [Pool]. It reads orders from in and carries them out
// one after another, by calling execute. It writes the answers to out, soon after execute
// returns them. While execute runs, it may send notes on its progress by calling note. If
// execute returns last as true, the worker carries out no further order after that answer.
//
// Serve does not return. The process exits when in ends, even in the middle of an order:
// the pool then has no more orders or no longer exists, and a job that never returns must
// not stay behind. A worker ignores an interrupt. An interrupt from the terminal goes to
// every process there, and the process with the pool can then finish in an orderly way.
func Serve[Order any](in io.Reader, out io.Writer, execute func(order Order, note func(text string)) (answer any, last bool)) {
	signal.Ignore(os.Interrupt)
	orders := make(chan Order, MaxPrefetch) // the buffer has room for all orders, so the goroutine always sees the end of in
	go func() {
		lines := json.NewDecoder(pollable(in))
		for {
			var o Order
			if err := lines.Decode(&o); err != nil {
				if !errors.Is(err, io.EOF) {
					fmt.Fprintln(os.Stderr, "runs: cannot decode an order:", err)
					os.Exit(2)
				}
				os.Exit(0)
			}
			orders <- o
		}
	}()
	s := newReplyWriter(out)
	note := func(text string) {
		s.add(noteMark, text)
		s.flush()
	}
	for o := range orders {
		answer, last := execute(o, note)
		mark := answerMark
		if last {
			mark = lastAnswerMark
		}
		if pending := s.add(mark, answer); last || pending > MaxPrefetch/2 || len(orders) == 0 {
			s.flush()
		}
		for last {
			<-orders // the pool gives the order to another worker
		}
	}
}

// A replyWriter writes the messages of a worker, one line for each answer or note.
type replyWriter struct {
	out io.Writer

	mu         sync.Mutex
	lines      bytes.Buffer
	pending    int // lines
	json       *json.Encoder
	flushTimer *time.Timer
}

func newReplyWriter(out io.Writer) *replyWriter {
	s := &replyWriter{out: out}
	s.json = json.NewEncoder(&s.lines)
	s.json.SetEscapeHTML(false)
	s.flushTimer = time.AfterFunc(flushDelay, s.flush)
	return s
}

// add adds a line to those that will be written soon, and returns how many are pending.
func (s *replyWriter) add(mark string, message any) (pending int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending == 0 {
		s.flushTimer.Reset(flushDelay)
	}
	s.pending++
	// The line break before the mark is there because the job may have printed something
	// without one.
	s.lines.WriteString("\n" + mark)
	if err := s.json.Encode(message); err != nil {
		panic(fmt.Sprintf("runs: cannot encode an answer as JSON: %v", err))
	}
	return s.pending
}

// flush writes the pending lines now.
func (s *replyWriter) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending == 0 {
		return
	}
	if _, err := s.out.Write(s.lines.Bytes()); err != nil {
		os.Exit(0) // the pool no longer exists
	}
	s.lines.Reset()
	s.pending = 0
}
