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

// moment is for how long a worker that has more to do keeps an answer to itself: whoever
// hired it need not be woken for every one.
const moment = 20 * time.Millisecond

// Serve makes this process a worker of a [Pool]. It carries out the orders that it reads
// from in, one after another, and writes to out what do answers to each, soon. Meanwhile
// do may say how far it is, by note, from its own goroutine. After an answer that is the
// last nothing more is done in this process.
//
// Serve does not return. The process exits when in ends, even in the middle of an
// order: whoever gives them has no more, or is gone, and a job that never returns
// must not stay behind. An interrupt from the terminal goes to every process there;
// a worker ignores it, so that the one that hired it can finish in order.
func Serve[Order any](in io.Reader, out io.Writer, do func(order Order, note func(text string)) (answer any, last bool)) {
	signal.Ignore(os.Interrupt)
	orders := make(chan Order, Ahead) // room for all, so that the end of in is always seen
	go func() {
		lines := json.NewDecoder(polled(in))
		for {
			var o Order
			if err := lines.Decode(&o); err != nil {
				if !errors.Is(err, io.EOF) {
					fmt.Fprintln(os.Stderr, "runs: this is no order:", err)
					os.Exit(2)
				}
				os.Exit(0)
			}
			orders <- o
		}
	}()
	s := newSpeaker(out)
	note := func(text string) {
		s.add(noted, text)
		s.say()
	}
	for o := range orders {
		answer, last := do(o, note)
		mark := answered
		if last {
			mark = answeredLast
		}
		if unsaid := s.add(mark, answer); last || unsaid > Ahead/2 || len(orders) == 0 {
			s.say()
		}
		for last {
			<-orders // another worker gets it
		}
	}
}

// A speaker says what a worker has to say, one line for each answer or note.
type speaker struct {
	out io.Writer

	mu     sync.Mutex
	lines  bytes.Buffer
	unsaid int // lines
	json   *json.Encoder
	later  *time.Timer
}

func newSpeaker(out io.Writer) *speaker {
	s := &speaker{out: out}
	s.json = json.NewEncoder(&s.lines)
	s.json.SetEscapeHTML(false)
	s.later = time.AfterFunc(moment, s.say)
	return s
}

// add adds a line, which is said in a moment, and returns how many there are.
func (s *speaker) add(mark string, what any) (unsaid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unsaid == 0 {
		s.later.Reset(moment)
	}
	s.unsaid++
	// What the job has printed may not have ended its line.
	s.lines.WriteString("\n" + mark)
	if err := s.json.Encode(what); err != nil {
		panic(fmt.Sprintf("runs: an answer that is no JSON: %v", err))
	}
	return s.unsaid
}

// say says what there is to say now.
func (s *speaker) say() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unsaid == 0 {
		return
	}
	if _, err := s.out.Write(s.lines.Bytes()); err != nil {
		os.Exit(0) // nobody listens any more
	}
	s.lines.Reset()
	s.unsaid = 0
}
