package locks

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locksim/locksim/fakeclock"
)

// Deadlines that were set before the dial apply to the connection.
func TestDeadlinesBeforeTheDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe() // the ends of the client and of the node
		defer theirs.Close()
		c := newConnection(fakeclock.System(), func(context.Context) (net.Conn, error) { return ours, nil })
		defer c.Close()
		began := time.Now()
		if err := errors.Join(c.SetReadDeadline(began.Add(2*time.Second)), c.SetWriteDeadline(began.Add(time.Second))); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("Write ended after %v with %v, want its deadline after 1s", time.Since(began), err)
		}
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != 2*time.Second {
			t.Errorf("Read ended after %v with %v, want its deadline after 2s", time.Since(began), err)
		}
	})
}

func TestDialIsBoundedByTheWriteDeadline(t *testing.T) {
	// deadline is the write deadline, or 0 for none; want is how long the dial takes.
	for deadline, want := range map[time.Duration]time.Duration{0: dialTimeout, time.Second: time.Second, time.Hour: dialTimeout} {
		synctest.Test(t, func(t *testing.T) {
			c := newConnection(fakeclock.System(), func(ctx context.Context) (net.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			})
			defer c.Close()
			began := time.Now()
			if deadline > 0 {
				if err := c.SetDeadline(began.Add(deadline)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := c.Write([]byte("x")); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != want {
				t.Errorf("with the write deadline %v the dial ended after %v with %v, want after %v", deadline, time.Since(began), err, want)
			}
		})
	}
}
