package etcd_test

import (
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/client/v3/concurrency"
	"google.golang.org/grpc"
)

// This test runs the client on a real server, without any code of ours. The response to an
// Unlock is lost. The client repeats the Unlock after its session has acquired the lock
// anew: https://github.com/etcd-io/etcd/issues/22082. If this test fails, the client has
// been fixed, and trackrecord and docs/systems.md are out of date.
func TestRepeatedUnlockDeletesNewKeyOnRealEtcd(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath(etcdProgram(t)); err != nil {
		skip(t, "there is no etcd server to run this test on (%v); on Debian and Ubuntu: apt-get install etcd-server", err)
	}
	var line line
	server := startEtcd(t)
	client := server.client(t, grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
		return line.dial(filepath.Join(server.dir, forClients))
	}))
	session, err := concurrency.NewSession(client)
	if err != nil {
		t.Fatal(err)
	}
	old := concurrency.NewMutex(session, "queue")
	if err := old.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}

	line.mute()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := old.Unlock(ctx); err == nil {
		t.Fatal("Unlock returns nil, want an error, because its response is lost")
	}
	line.cut()
	// The client retries a read over the next connection, but it would not retry the write
	// of Lock.
	if gone, err := client.Get(t.Context(), old.Key()); err != nil || len(gone.Kvs) > 0 {
		t.Fatalf("after Unlock, reading its key gives %v, %v; want no key", gone, err)
	}
	held := concurrency.NewMutex(session, "queue")
	if err := held.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}

	if err := old.Unlock(t.Context()); err != nil {
		t.Errorf("the second Unlock returns %v, want nil", err)
	}
	other, err := concurrency.NewSession(client)
	if err != nil {
		t.Fatal(err)
	}
	if err := concurrency.NewMutex(other, "queue").TryLock(t.Context()); err != nil {
		t.Errorf("TryLock of another session returns %v, want nil, because the second Unlock has deleted the new key", err)
	}
}

// A line is the connections of a client to a server. While it is muted, bytes that arrive
// on it are lost.
type line struct {
	mu    sync.Mutex
	muted bool
	conns []net.Conn
}

func (l *line) dial(socket string) (net.Conn, error) {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = append(l.conns, c)
	return &lineConn{c, l}, nil
}

func (l *line) mute() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.muted = true
}

// cut closes the current connections. New connections are not muted.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		c.Close()
	}
	l.conns, l.muted = nil, false
}

func (l *line) isMute() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.muted
}

type lineConn struct {
	net.Conn
	line *line
}

func (c *lineConn) Read(b []byte) (int, error) {
	for {
		n, err := c.Conn.Read(b)
		if err != nil || !c.line.isMute() {
			return n, err
		}
	}
}
