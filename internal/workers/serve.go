package workers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// Serve makes this process a worker. It does the orders that it reads from in, one
// after another, and writes to out what do returns for each. Meanwhile do may say
// how far it is, by note, from its own goroutine. While it does one order, [Ahead]
// others may be given, and no more.
//
// Serve does not return. The process exits when in ends, even in the middle of an
// order: whoever gives them has no more, or is gone, and a job that never returns
// must not stay behind. An interrupt from the terminal goes to every process there;
// a worker ignores it, so that the one that hired it can finish in order.
func Serve[Order any](in io.Reader, out io.Writer, do func(order Order, note func(text string)) (answer any)) {
	signal.Ignore(os.Interrupt)
	orders := make(chan Order, Ahead) // room for all, so that the end of in is always seen
	go func() {
		lines := json.NewDecoder(polled(in))
		for {
			var o Order
			if err := lines.Decode(&o); err != nil {
				if !errors.Is(err, io.EOF) {
					fmt.Fprintln(os.Stderr, "workers: this is no order:", err)
					os.Exit(2)
				}
				os.Exit(0)
			}
			orders <- o
		}
	}()
	var line bytes.Buffer
	write := json.NewEncoder(&line)
	write.SetEscapeHTML(false)
	say := func(mark string, what any) {
		line.Reset()
		// What the job has printed may not have ended its line.
		line.WriteString("\n" + mark)
		if err := write.Encode(what); err != nil {
			panic(fmt.Sprintf("workers: an answer that is no JSON: %v", err))
		}
		if _, err := out.Write(line.Bytes()); err != nil {
			os.Exit(0) // nobody listens any more
		}
	}
	note := func(text string) { say(noted, text) }
	for o := range orders {
		say(answered, do(o, note))
	}
}
