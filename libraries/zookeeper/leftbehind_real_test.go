//go:build unix

package zookeeper_test

import (
	"cmp"
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// This test runs the library's Lock on a real server, without any code of ours. The
// connection breaks after Lock has created its node, and the library leaves that node
// behind: https://github.com/samuel/go-zookeeper/pull/237. If this test fails, the library
// has been fixed, and trackrecord and docs/systems.md are out of date.
func TestLockLeavesItsNodeOnRealZooKeeper(t *testing.T) {
	server := realZooKeeper(t)
	const path = "/queue"
	var breaks atomic.Bool
	conn := connect(t, server, func(network, addr string, timeout time.Duration) (net.Conn, error) {
		c, err := net.DialTimeout(network, addr, timeout)
		return &breakingConn{c, &breaks}, err
	})
	// Another session creates the node under which the clients queue, and reads the queue
	// afterwards.
	other := connect(t, server, net.DialTimeout)
	if _, err := other.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}

	breaks.Store(true)
	lock := zk.NewLock(conn, path, zk.WorldACL(zk.PermAll))
	if err := lock.Lock(); !errors.Is(err, zk.ErrConnectionClosed) {
		t.Fatalf("Lock returns %v, want that the connection is closed", err)
	}
	left := queue(t, other, path)
	if len(left) != 1 {
		t.Fatalf("after Lock has failed the queue is %v, want the node that it made", left)
	}
	if err := lock.Unlock(); !errors.Is(err, zk.ErrNotLocked) {
		t.Errorf("Unlock returns %v, want that there is nothing to unlock", err)
	}

	again := make(chan error, 1)
	go func() { again <- lock.Lock() }()
	select {
	case err := <-again:
		t.Fatalf("the next Lock did not wait for the node of the first: %v", err)
	case <-time.After(3 * time.Second): // the library reconnects after one second
	}
	// Both nodes in the queue belong to the same session, which is alive. No other session
	// is in the queue.
	both := queue(t, other, path)
	if len(both) != 2 || both[0].owner != both[1].owner || both[0].owner != conn.SessionID() {
		t.Errorf("the queue is %v, want two nodes of the session %x", both, conn.SessionID())
	}
	if err := other.Delete(path+"/"+left[0].name, -1); err != nil {
		t.Fatal(err)
	}
	if err := <-again; err != nil {
		t.Errorf("when the node of the first Lock is deleted, the next returns %v", err)
	}
}

func connect(t *testing.T, server string, dial zk.Dialer) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect([]string{server}, 10*time.Second, zk.WithDialer(dial), zk.WithLogger(quiet{}), zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// A place is a node in the queue, with its session.
type place struct {
	name  string
	owner int64
}

// queue returns the places under a path, in the order of their sequence numbers.
func queue(t *testing.T, conn *zk.Conn, path string) []place {
	t.Helper()
	names, _, err := conn.Children(path)
	if err != nil {
		t.Fatal(err)
	}
	number := func(name string) string { return name[len(name)-10:] }
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	var places []place
	for _, name := range names {
		_, stat, err := conn.Exists(path + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, place{name, stat.EphemeralOwner})
	}
	return places
}

// A breakingConn is a connection that breaks once, when the client requests the children of
// a node. By then, the client has created its own node, and it is about to check whether
// that node is the first in the queue.
type breakingConn struct {
	net.Conn
	breaks *atomic.Bool
}

func (b *breakingConn) Write(p []byte) (int, error) {
	const getChildren = 12
	// A request begins with its length, its number and its opcode, each of four bytes.
	if len(p) > 12 && binary.BigEndian.Uint32(p[8:]) == getChildren && b.breaks.CompareAndSwap(true, false) {
		b.Conn.Close()
		return len(p), nil // as if it broke on the way
	}
	return b.Conn.Write(p)
}
