package sim

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/locksim/locksim/trace"
)

// The table, on our nodes.
func TestFidelityOfOurNodes(t *testing.T) {
	for _, f := range fidelities {
		t.Run(f.name, func(t *testing.T) {
			if f.wide && strconv.IntSize == 32 {
				t.Skip("an int has 32 bits here")
			}
			cfg := story(client(t, "client-1", func(ctx context.Context, p *Program) error {
				sleepUntil(p, 500*time.Microsecond)
				s := &simulatedRedis{ctx: ctx, p: p, node: p.g.w.byName["redis-1"]}
				return f.run(t, s, true)
			}))
			cfg.Horizon = 10_000 * time.Hour
			cfg.Network = Network{Min: 1, Max: 1} // nanoseconds
			cfg.Nodes[0].Persistence = f.persistence
			play(t, cfg)
		})
	}
}

// A simulatedRedis is one of our nodes, as a client sees it.
type simulatedRedis struct {
	ctx  context.Context
	p    *Program
	node *process
	conn net.Conn // nil: to be dialled
}

func (s *simulatedRedis) ask(command []string, after time.Duration) (got string, err error) {
	if s.conn == nil {
		if s.conn, err = dialTo(s.ctx, s.p, 0); err != nil {
			return "", err
		}
	}
	asked := now(s.p)
	got, err = converse(s.conn, command)
	if took := now(s.p) - asked - after; err == nil && (took < 0 || took > time.Microsecond) {
		err = fmt.Errorf("the answer took %v, want %v", took+after, after)
	}
	return got, err
}

func (s *simulatedRedis) pass(d time.Duration) error {
	time.Sleep(d)
	return nil
}

func (s *simulatedRedis) jump(d time.Duration) error {
	s.p.g.step(0, func() { s.node.clock.Jump(d) })
	return nil
}

func (s *simulatedRedis) end(how trace.Crash) error {
	if s.conn != nil {
		s.conn.Close()
		s.conn = nil
	}
	s.p.g.step(0, func() { s.node.crash(how) })
	return nil
}

func (s *simulatedRedis) restart() error {
	s.p.g.step(0, s.node.restart)
	return nil
}

func (s *simulatedRedis) wall() time.Time { return s.node.clock.Now() }

// respCommand is a command as a client sends it.
func respCommand(words []string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(words))
	for _, word := range words {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(word), word)
	}
	return b
}

// converse sends a command over a plain connection and returns the reply.
func converse(c net.Conn, command []string) (string, error) {
	if _, err := c.Write(respCommand(command)); err != nil {
		return "", err
	}
	return reply(c)
}

// reply reads the next reply from a plain connection.
func reply(c net.Conn) (string, error) {
	var got []byte
	b := make([]byte, 4096)
	for respSize(got) == 0 {
		n, err := c.Read(b)
		if err != nil {
			return string(got), err
		}
		got = append(got, b[:n]...)
	}
	return string(got), nil
}
