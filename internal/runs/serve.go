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

// flushDelay is how long a worker that has more to do may hold back an answer, so that its
// pool is not woken for every answer.
const flushDelay = 20 * time.Millisecond

// Serve makes this process a worker of a [Pool]. It reads orders from in and carries them
// out by do, one after another. It writes the answers to out, soon after do returns them.
// Meanwhile do may send notes on its progress by calling note from its own goroutine. After
// an answer for which do returned last, this process does nothing more.
//
// Serve does not return. The process exits when in ends, even in the middle of an order:
// then the pool has no more orders, or is gone, and a job that never returns must not stay
// behind. A worker ignores an interrupt from the terminal, which goes to every process
// there, so that the process with the pool can finish in order.
func Serve[Order any](in io.Reader, out io.Writer, do func(order Order, note func(text string)) (answer any, last bool)) {
	signal.Ignore(os.Interrupt)
	orders := make(chan Order, MaxPrefetch) // room for all, so that the end of in is always seen
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
		answer, last := do(o, note)
		mark := answerMark
		if last {
			mark = lastAnswerMark
		}
		if pending := s.add(mark, answer); last || pending > MaxPrefetch/2 || len(orders) == 0 {
			s.flush()
		}
		for last {
			<-orders // another worker gets it
		}
	}
}

// A replyWriter writes the lines of a worker, one for each answer or note.
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

// add adds a line, which is written soon, and returns how many lines are pending.
func (s *replyWriter) add(mark string, what any) (pending int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending == 0 {
		s.flushTimer.Reset(flushDelay)
	}
	s.pending++
	// The job may have printed something without a line end.
	s.lines.WriteString("\n" + mark)
	if err := s.json.Encode(what); err != nil {
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
		os.Exit(0) // the pool is gone
	}
	s.lines.Reset()
	s.pending = 0
}
