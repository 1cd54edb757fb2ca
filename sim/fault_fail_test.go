package sim_test

import (
	"context"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A node that fails executes no command and answers each with the error. It still serves
// messages that only keep a connection open. If several faults last, the first decides the
// error, and the node serves again when the last has ended. A crash of the node does not
// end the faults.
func TestFail(t *testing.T) {
	// broken returns a fault between two times, which makes toy-1 answer with an error; ""
	// is the error "broken".
	broken := func(from, to time.Duration, with string) sim.Fault {
		return Lasting(to-from, At(from, &sim.Fail{"toy-1", with}))
	}
	const half = time.Second / 2
	for _, test := range []struct {
		name    string
		faults  []sim.Fault
		answers string // answers to the command incr, which is sent each second
		events  string // the events with which the node begins to fail and serves again
	}{
		{"no fault", nil, "1 2 3 4 5 6", ""},
		{"one fault", []sim.Fault{broken(3*half, 7*half, "")}, "1 broken broken 2 3 4", "broken at 1s, serves at 3s"},
		{"a fault with an error of its own", []sim.Fault{broken(3*half, 7*half, "out of order")}, "1 out of order out of order 2 3 4", "out of order at 1s, serves at 3s"},
		{"two faults that overlap, with different errors", []sim.Fault{broken(3*half, 7*half, "one"), broken(5*half, 9*half, "two")}, "1 one one two 2 3", "one at 1s, two at 3s, serves at 4s"},
		{"two faults that overlap, with the same error", []sim.Fault{broken(3*half, 7*half, ""), broken(5*half, 9*half, "")}, "1 broken broken broken 2 3", "broken at 1s, serves at 4s"},
		{"the node crashes and restarts during the fault", []sim.Fault{
			broken(3*half, 9*half, ""), Lasting(time.Second, At(5*half, CrashOf("toy-1", trace.Kill))),
		}, "1 broken down broken 1 2", "broken at 1s, serves at 4s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var answers []string
			tr := RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				for second := range 6 {
					SleepUntil(time.Duration(second+1) * time.Second)
					answer, err := Toy(p, 0).Ask(ctx, "incr n")
					if err != nil {
						answer = "down"
					} else if pong, err := Toy(p, 0).Ask(ctx, "ping"); err != nil || pong != "pong" {
						t.Errorf("the node answers a ping with %s, %v; want pong", pong, err)
					}
					answers = append(answers, answer)
				}
				return nil
			})), test.faults...))
			AllFaultsStruck(t, tr)
			Equal(t, "the answers to the command incr", strings.Join(answers, " "), test.answers)
			var events []string
			for _, ev := range tr.Events {
				at := " at " + ev.At.Truncate(time.Second).String()
				switch ev.Kind {
				case trace.KindFail:
					events = append(events, ev.Text+at)
				case trace.KindRecover:
					events = append(events, "serves"+at)
				}
			}
			Equal(t, "when the node fails and serves again", strings.Join(events, ", "), test.events)
		})
	}
}
