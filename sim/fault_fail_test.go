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
	broken := func(from, to time.Duration, with string) sim.Fault {
		return Lasting(to-from, At(from, &sim.Fail{"toy-1", with}))
	}
	const half = time.Second / 2
	for _, test := range []struct {
		name    string
		faults  []sim.Fault
		answers string // answers to the command count, which is sent each second
		told    string // the events with which the node begins to fail and serves again
	}{
		{"no fault", nil, "1 2 3 4 5 6", ""},
		{"one", []sim.Fault{broken(3*half, 7*half, "")}, "1 broken broken 2 3 4", "broken at 1s, serves at 3s"},
		{"in other words", []sim.Fault{broken(3*half, 7*half, "out of order")}, "1 out of order out of order 2 3 4", "out of order at 1s, serves at 3s"},
		{"two at once", []sim.Fault{broken(3*half, 7*half, "one"), broken(5*half, 9*half, "two")}, "1 one one two 2 3", "one at 1s, two at 3s, serves at 4s"},
		{"two alike", []sim.Fault{broken(3*half, 7*half, ""), broken(5*half, 9*half, "")}, "1 broken broken broken 2 3", "broken at 1s, serves at 4s"},
		{"over a crash", []sim.Fault{
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
						t.Errorf("it answers a ping with %s, %v", pong, err)
					}
					answers = append(answers, answer)
				}
				return nil
			})), test.faults...))
			AllFaultsStruck(t, tr)
			Equal(t, "it answers", strings.Join(answers, " "), test.answers)
			var told []string
			for _, ev := range tr.Events {
				at := " at " + ev.At.Truncate(time.Second).String()
				switch ev.Kind {
				case trace.KindFail:
					told = append(told, ev.Text+at)
				case trace.KindRecover:
					told = append(told, "serves"+at)
				}
			}
			Equal(t, "it is told", strings.Join(told, ", "), test.told)
		})
	}
}
