package sim_test

import (
	"context"
	"io"
	"testing"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// ReplyTo gives an answer the section of its request, even if a later request is answered
// first.
func TestAnswersOutOfOrder(t *testing.T) {
	// The client sends wait, which is answered last, and then ping, which is part of a
	// handshake.
	waits := Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		conn, err := p.Env().Dial(ctx, "tcp", p.Env().Nodes[0])
		if err != nil {
			return err
		}
		if _, err := io.WriteString(conn, "wait k\nping\n"); err != nil {
			return err
		}
		if _, err := io.ReadFull(conn, make([]byte, len("pong\n"))); err != nil {
			return err
		}
		if err := Toy(p, 0).Do(ctx, "set k v"); err != nil {
			return err
		}
		_, err = io.ReadFull(conn, make([]byte, len("v\n")))
		return err
	})
	tr := RunWorld(t, ToyWorld(waits))
	answers := map[string]bool{} // by answer: whether it is part of a handshake
	for _, ev := range Events(tr, trace.KindDeliver, "client-1") {
		answers[ev.Text] = ev.Handshake
	}
	if is, ok := answers["pong"]; !ok || !is {
		t.Errorf("whether each answer is part of a handshake: %v, want true for pong", answers)
	}
	if is, ok := answers["v"]; !ok || is {
		t.Errorf("whether each answer is part of a handshake: %v, want false for v", answers)
	}
}
