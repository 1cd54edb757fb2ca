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

// ChecksIdle reports whether go-redis checks an idle connection before it uses it again,
// and dials anew if the connection has ended. It does so where it finds the sockets of
// Unix. Builds for Windows or js leave that out, so there the first command after a node's
// restart fails. ChecksIdle finds out by trying, once.
var ChecksIdle = sync.OnceValue(func() bool {
	conn := new(lookedAt)
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
	return conn.looked
})

// A probeConn is a connection to a node that knows no command. It records whether go-redis
// has checked it.
type lookedAt struct {
	mu      sync.Mutex
	answers bytes.Buffer
	looked  bool
}

func (c *lookedAt) SyscallConn() (syscall.RawConn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looked = true
	return nil, errors.New("there is no socket")
}

func (c *lookedAt) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range bytes.Count(append([]byte("\r\n"), b...), []byte("\r\n*")) {
		c.answers.WriteString("-ERR unknown command\r\n")
	}
	return len(b), nil
}

func (c *lookedAt) Read(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers.Read(b)
}

func (c *lookedAt) Close() error                     { return nil }
func (c *lookedAt) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *lookedAt) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *lookedAt) SetDeadline(time.Time) error      { return nil }
func (c *lookedAt) SetReadDeadline(time.Time) error  { return nil }
func (c *lookedAt) SetWriteDeadline(time.Time) error { return nil }
