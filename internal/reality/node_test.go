//go:build unix

package reality

import (
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/locksim/locksim/trace"
)

// A slowServer is a server that starts when a test lets it.
type slowServer struct {
	server
	keeper
	child            *child
	begins, mayStart chan struct{}
}

func (s *slowServer) process() *child             { return s.child }
func (s *slowServer) snapshot() (snapshot, error) { return snapshot{}, nil }
func (s *slowServer) start() error {
	s.begins <- struct{}{}
	<-s.mayStart
	return nil
}

// A server that crashes again while it is being started stays down until the second crash
// ends. A server is not started after the end of the run.
func TestCrashDuringARestart(t *testing.T) {
	child, err := guardOf(t, "").start(exec.Command("sleep", "10"))
	if err != nil {
		t.Fatal(err)
	}
	defer child.kill()
	r := &run{options: Options{Setup: 10 * time.Second}}
	r.changed = sync.NewCond(&r.mu)
	s := &slowServer{child: child, begins: make(chan struct{}), mayStart: make(chan struct{})}
	n := &node{r: r, server: s, keeper: s}
	crash := func() { n.crash(trace.Kill) }

	r.do(crash)
	r.do(n.restart)
	<-s.begins
	r.do(crash)
	s.mayStart <- struct{}{}
	r.restarts.Wait()
	if !n.isDown {
		t.Fatal("the server is up after its second crash")
	}

	r.do(n.restart)
	<-s.begins
	s.mayStart <- struct{}{}
	r.restarts.Wait()
	if n.isDown || n.executing != nil {
		t.Errorf("after its restart the server is down: %v, and executes %v", n.isDown, n.executing)
	}

	r.do(crash)
	r.do(func() {
		n.restart()
		r.ended = true
	})
	ended := make(chan struct{})
	go func() {
		r.restarts.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-s.begins:
		t.Error("the server is started after the end of the run")
	}
}
