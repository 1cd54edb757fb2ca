package reality

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// A child is a process that the harness has started, with all processes that this process starts.
// They form one process group, unless one of them leaves the group.
type child struct {
	cmd    *exec.Cmd
	guard  *guard
	exited chan struct{}
	stderr *tail
}

// start starts a command as a child. stdin and stdout of the command must be set already,
// if it needs any.
func (g *guard) start(cmd *exec.Cmd) (*child, error) {
	c := &child{cmd: cmd, guard: g, exited: make(chan struct{}), stderr: &tail{limit: 4 << 10}}
	if cmd.Stderr == nil {
		cmd.Stderr = c.stderr
	}
	ownGroup(cmd)
	cmd.WaitDelay = outputDelay
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", cmd.Path, err)
	}
	go func() {
		_ = cmd.Wait() // ProcessState has the result
		close(c.exited)
	}()
	if err := g.watch(cmd.Process.Pid); err != nil {
		c.kill()
		return nil, err
	}
	return c, nil
}

// startServer starts a server as a child. Servers say on their standard output why they end.
func (g *guard) startServer(cmd *exec.Cmd) (*child, error) {
	words := &tail{limit: 4 << 10}
	cmd.Stdout, cmd.Stderr = words, words
	c, err := g.start(cmd)
	if err == nil {
		c.stderr = words
	}
	return c, err
}

// checkSocket returns an error if the path of a Unix socket is too long for the kernel.
func checkSocket(path string) error {
	const most = 103 // the limit of macOS; Linux allows four more
	if len(path) > most {
		return fmt.Errorf("the path of the server's socket, %s, has %d bytes, and at most %d are allowed; set TMPDIR to a shorter path", path, len(path), most)
	}
	return nil
}

// outputDelay is how long the harness waits, after a child has ended, for other processes that have
// its output open, such as a process that has left its group.
const outputDelay = 2 * time.Second

// startProgram starts a command as a child that reads from stdin and writes to stdout. What the
// child has written can still be read after its end.
func (g *guard) startProgram(cmd *exec.Cmd) (c *child, stdin io.Writer, stdout *io.PipeReader, err error) {
	if stdin, err = cmd.StdinPipe(); err != nil {
		return nil, nil, nil, err
	}
	stdout, out := io.Pipe()
	cmd.Stdout = out
	if c, err = g.start(cmd); err != nil {
		return nil, nil, nil, err
	}
	go func() {
		<-c.exited
		out.Close()
	}()
	return c, stdin, stdout, nil
}

// kill ends the child and all processes of its group, and waits until it has ended.
func (c *child) kill() {
	killGroup(c.cmd.Process.Pid)
	<-c.exited
	killGroup(c.cmd.Process.Pid) // what the child has started may outlive it
	c.guard.forget(c.cmd.Process.Pid)
}

// hasExited reports whether the child has ended.
func (c *child) hasExited() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

// lastWords returns the end of what the child has written to its standard error; of a server, also
// what it has written to its standard output.
func (c *child) lastWords() string {
	text := strings.TrimSpace(c.stderr.String())
	if text == "" {
		return ""
	}
	return ": " + text
}

// A tail keeps the end of what is written to it.
type tail struct {
	limit int
	mu    sync.Mutex
	bytes bytes.Buffer
}

var _ io.Writer = (*tail)(nil)

// Write implements [io.Writer].
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes.Write(b)
	if excess := t.bytes.Len() - t.limit; excess > 0 {
		t.bytes.Next(excess)
	}
	return len(b), nil
}

// String returns what is kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes.String()
}
