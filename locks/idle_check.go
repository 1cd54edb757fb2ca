package locks

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// ChecksIdle reports whether go-redis, as built into this program, checks an idle
// connection before it uses it again, and dials anew if the connection has ended. It needs
// the sockets of Unix for that. Builds for Windows or js leave the check out, so there the
// first command after a node's restart fails. ChecksIdle finds out by one trial, whose
// result it remembers.
var ChecksIdle = sync.OnceValue(func() bool {
	conn := new(probeConn)
	client := redis.NewClient(withoutPipelinePool(&redis.Options{
		Dialer:                   func(context.Context, string, string) (net.Conn, error) { return conn, nil },
		Protocol:                 2,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		MaxRetries:               -1,
	}))
	defer client.Close()
	for range 2 {
		client.Ping(context.Background())
	}
	return conn.wasChecked
})

// A probeConn is a connection to a node that answers every command with an error. It
// records whether go-redis has asked for its socket, which is how go-redis checks an idle
// connection.
type probeConn struct {
	mu         sync.Mutex
	answers    bytes.Buffer
	wasChecked bool
}

// SyscallConn records that go-redis has asked for the socket. There is none, so the check
// fails.
func (c *probeConn) SyscallConn() (syscall.RawConn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wasChecked = true
	return nil, errors.New("there is no socket")
}

// Write answers each command with an error. A command begins with "*".
func (c *probeConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range bytes.Count(append([]byte("\r\n"), b...), []byte("\r\n*")) {
		c.answers.WriteString("-ERR unknown command\r\n")
	}
	return len(b), nil
}

func (c *probeConn) Read(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers.Read(b)
}

func (c *probeConn) Close() error                     { return nil }
func (c *probeConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *probeConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *probeConn) SetDeadline(time.Time) error      { return nil }
func (c *probeConn) SetReadDeadline(time.Time) error  { return nil }
func (c *probeConn) SetWriteDeadline(time.Time) error { return nil }
