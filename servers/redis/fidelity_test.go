package redis_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Our nodes give the answers in the fidelity cases.
func TestFidelityOfOurNodes(t *testing.T) {
	for _, f := range slices.Concat(fidelityCases, luaFidelityCases, newFidelityCases) {
		t.Run(f.name, func(t *testing.T) {
			if f.needsInt64 && strconv.IntSize == 32 {
				t.Skip("an int has 32 bits here")
			}
			plan, err := faultsOf(f)
			if err != nil {
				t.Fatal(err)
			}
			cfg := WithFaults(redisWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				SleepUntil(500 * time.Microsecond)
				return f.run(t, &simulatedRedis{ctx: ctx, p: p}, true)
			})), plan...)
			cfg.Horizon = 10_000 * time.Hour
			cfg.Network = sim.Network{Min: 1, Max: 1} // nanoseconds
			cfg.Nodes[0].Persistence = f.persistence
			AllFaultsStruck(t, RunWorld(t, cfg))
		})
	}
}

// A plan turns the events in a script, such as a kill, into faults of the world. client-1
// takes a step of work for each event: see passStep. A fault strikes just before the step
// of its event, and a restart ends a crash just after its step.
type plan struct {
	fidelityServer
	faults []sim.Fault
	steps  int // the steps of work for the events so far
}

// faultsOf returns the faults for the events in a script.
func faultsOf(f fidelityCase) ([]sim.Fault, error) {
	steps, err := f.steps()
	if err != nil {
		return nil, err
	}
	p := &plan{}
	for _, s := range steps {
		if s.event != nil {
			err = errors.Join(err, s.event(p))
		}
	}
	return p.faults, err
}

func (p *plan) pass(time.Duration) error { return nil }

// addFault adds a fault that strikes before the next step of work.
func (p *plan) addFault(a sim.Action) error {
	p.steps++
	p.faults = append(p.faults, Before("client-1 work, "+trace.NthTime(p.steps), a))
	return nil
}

func (p *plan) jump(d time.Duration) error { return p.addFault(&sim.Jump{Process: "redis-1", By: d}) }
func (p *plan) end(how trace.Crash) error  { return p.addFault(CrashOf("redis-1", how)) }

// restart gives the crash that has no end yet an end: after the next step of work.
func (p *plan) restart() error {
	p.steps++
	for i := range p.faults {
		if _, crash := p.faults[i].Action.(*sim.CrashFault); crash && p.faults[i].Until.IsZero() {
			p.faults[i] = Until("client-1 worked, "+trace.NthTime(p.steps), p.faults[i])
		}
	}
	return nil
}

// A simulatedRedis is one of our nodes, as seen by a client.
type simulatedRedis struct {
	ctx    context.Context
	p      *sim.Program
	conn   net.Conn      // nil: not dialled yet
	jumped time.Duration // how far the node's clock was set forward in total
}

func (s *simulatedRedis) ask(command []string, after time.Duration) (got string, err error) {
	if s.conn == nil {
		if s.conn, err = Dial(s.ctx, s.p, 0); err != nil {
			return "", err
		}
	}
	asked := Now()
	got, err = sendCommand(s.conn, command)
	if took := Now() - asked - after; err == nil && (took < 0 || took > time.Microsecond) {
		err = fmt.Errorf("the answer came after %v, want %v", took+after, after)
	}
	return got, err
}

func (s *simulatedRedis) pass(d time.Duration) error {
	time.Sleep(d)
	return nil
}

// passStep lets the next fault of the plan strike or end.
func (s *simulatedRedis) passStep() error {
	return s.p.Step(trace.Work, func() error { return nil })
}

func (s *simulatedRedis) jump(d time.Duration) error {
	s.jumped += d
	return s.passStep()
}

func (s *simulatedRedis) end(trace.Crash) error {
	if s.conn != nil {
		s.conn.Close()
		s.conn = nil
	}
	return s.passStep()
}

func (s *simulatedRedis) restart() error  { return s.passStep() }
func (s *simulatedRedis) wall() time.Time { return time.Now().Add(s.jumped) }

// patience is the longest time that a test waits for a server.
const patience = 20 * time.Second

// respCommand returns a command as a client sends it.
func respCommand(words []string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(words))
	for _, word := range words {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(word), word)
	}
	return b
}

// sendCommand sends a command over a plain connection and returns the reply.
func sendCommand(c net.Conn, command []string) (string, error) {
	if _, err := c.Write(respCommand(command)); err != nil {
		return "", err
	}
	return reply(c)
}

// reply reads the next reply from a plain connection.
func reply(c net.Conn) (string, error) {
	var got []byte
	err := readReply(bufio.NewReader(c), &got)
	return string(got), err
}

// readReply appends a reply to got: its first line, and then the bytes or the replies that
// this line announces.
func readReply(r *bufio.Reader, got *[]byte) error {
	line, err := r.ReadBytes('\n')
	*got = append(*got, line...)
	if err != nil {
		return err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(line[1:])))
	switch line[0] {
	case '$':
		if n < 0 {
			return nil
		}
		text := make([]byte, n+len("\r\n"))
		_, err = io.ReadFull(r, text)
		*got = append(*got, text...)
	case '%': // a map of RESP 3 has a value for each key
		n *= 2
		fallthrough
	case '*':
		for ; n > 0 && err == nil; n-- {
			err = readReply(r, got)
		}
	}
	return err
}
