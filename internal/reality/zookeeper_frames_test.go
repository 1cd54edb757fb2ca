package reality

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"

	_ "github.com/locksim/locksim/servers/zookeeper"
)

// encoded returns values in ZooKeeper's encoding, as one message with its length.
func encoded(values ...any) (b []byte) {
	for _, v := range values {
		switch v := v.(type) {
		case int:
			b = binary.BigEndian.AppendUint32(b, uint32(v))
		case int64:
			b = binary.BigEndian.AppendUint64(b, uint64(v))
		case bool:
			b = append(b, map[bool]byte{true: 1}[v])
		case string:
			b = appendBuffer(b, []byte(v))
		}
	}
	return appendBuffer(nil, b)
}

// These are the first messages of a connection, and what follows a path in a create.
var (
	zkHello   = encoded(0, int64(0), 2000, int64(0), "0123456789abcdef", false)
	zkWelcome = encoded(0, 2000, int64(0x1f), "0123456789abcdef", false)
	zkAccess  = []any{1, 31, "world", "anyone"}
)

// A zooKeeperConn is a connection of a test.
type zooKeeperConn struct {
	*testing.T
	cut   *zooKeeperCutter
	asked []*message
}

func newZooKeeperConn(t *testing.T) *zooKeeperConn {
	t.Helper()
	system, _ := sim.LookupSystem(locks.ZooKeeper)
	r := testRun(locks.ZooKeeper)
	c := &zooKeeperConn{T: t, cut: &zooKeeperCutter{Framer: system.Framer(r.names), r: r}}
	c.ask(zkHello)
	if decoded := c.answer(zkWelcome); decoded.completes != 0 || len(decoded.learned) != 1 {
		t.Fatalf("the answer to a connection is read as %+v", decoded)
	}
	if s := r.cluster.sessions["1f"]; s == nil || s.client != "client-1" || s.ttl != 2*time.Second {
		t.Fatalf("the session is %+v", s)
	}
	c.asked = nil
	return c
}

func (c *zooKeeperConn) ask(b []byte) *call {
	c.Helper()
	size, f := c.cut.Next(b)
	if size != len(b) {
		c.Fatalf("the request has %d bytes, want %d", size, len(b))
	}
	m := &message{body: f}
	m.event.Process = "client-1"
	c.asked = c.cut.expect(c.asked, m)
	return f.Body.(*call)
}

func (c *zooKeeperConn) answer(b []byte) reading {
	c.Helper()
	for n := range b {
		if size := c.cut.answerSize(b[:n]); size != 0 {
			c.Fatalf("the first %d of %d bytes are a message of %d bytes", n, len(b), size)
		}
	}
	if size := c.cut.answerSize(b); size != len(b) {
		c.Fatalf("the answer has %d bytes, want %d", size, len(b))
	}
	return c.cut.read(b, c.asked)
}

// An answer has the number of its request. Notifications answer nothing.
func TestAnswersOfZooKeeper(t *testing.T) {
	c := newZooKeeperConn(t)
	c.ask(encoded(5, zkExists, "/lock", true))
	c.ask(encoded(6, zkDelete, "/lock/a", -1))
	c.ask(encoded(zkPong, zkPing))
	for _, x := range []struct {
		answer []byte
		want   int
	}{
		{encoded(zkPong, int64(9), 0), 2},
		{encoded(6, int64(9), -101), 1},
		{encoded(5, int64(9), 0), 0},
		{encoded(7, int64(9), 0), -1},
	} {
		if decoded := c.answer(x.answer); decoded.completes != x.want {
			t.Errorf("the answer %x completes the request %d, want %d", x.answer, decoded.completes, x.want)
		}
	}
	decoded := c.answer(encoded(zkNotification, int64(-1), 0, 2, 3, "/lock/a"))
	if decoded.completes >= 0 || len(decoded.learned) != 1 || decoded.learned[0].Kind != trace.KindNotify || decoded.learned[0].Key != "/lock/a" {
		t.Errorf("the notification is read as %+v", decoded)
	}
}

// The nodes that a request may change are those that it names.
func TestEffectsOfZooKeeper(t *testing.T) {
	c := newZooKeeperConn(t)
	create := func(path string, flags int) []any {
		return slices.Concat([]any{path, "content"}, zkAccess, []any{flags})
	}
	request := func(op int, values ...any) []byte { return encoded(append([]any{1, op}, values...)...) }
	for _, x := range []struct {
		request      []byte
		put, deleted string
		ends         string
	}{
		{request(zkCreate, create("/lock/a-", 3)...), "/lock/a-0000000003", "", ""},
		{request(zkCreate2, create("/lock", 1)...), "/lock", "", ""},
		{request(zkDelete, "/lock/a", -1), "", "/lock/a", ""},
		{request(zkSetData, "/lock/a", "new", -1), "/lock/a", "", ""},
		{request(zkMulti, slices.Concat([]any{zkCreate, false, -1}, create("/lock/b", 0), []any{zkDelete, false, -1, "/lock/c", 0, -1, true, -1})...), "/lock/b", "/lock/c", ""},
		{request(zkCloseSession), "", "", "1f"},
	} {
		e := c.ask(x.request).effect
		switch {
		case e == nil:
			t.Errorf("the request %x changes nothing", x.request)
		case x.put != "" && !e.causes(change{key: x.put}), x.deleted != "" && !e.causes(change{key: x.deleted, isDeleted: true}), e.ends != x.ends:
			t.Errorf("the request %x changes %+v", x.request, e)
		case e.causes(change{key: "/lock/other"}) || e.causes(change{key: "/lock/other", isDeleted: true}):
			t.Errorf("the request %x changes a node that it does not name: %+v", x.request, e)
		}
	}
	if e := c.ask(request(zkGetChildren, "/lock", false)).effect; e != nil {
		t.Errorf("a read changes %+v", e)
	}
}

// Bytes that are not ZooKeeper's protocol are passed on or kept, and nothing panics.
func FuzzZooKeeperFrames(f *testing.F) {
	f.Add(encoded(1, zkCreate, "/lock", "", 1, 31, "world", "anyone", 3), encoded(1, int64(9), 0))
	f.Add(encoded(1, zkMulti, zkDelete, false, -1, "/lock", -1), encoded(zkNotification, int64(-1), 0, 2, 3, "/lock"))
	f.Add([]byte("ruok"), []byte("imok"))
	system, _ := sim.LookupSystem(locks.ZooKeeper)
	f.Fuzz(func(t *testing.T, request, answer []byte) {
		r := testRun(locks.ZooKeeper)
		cut := &zooKeeperCutter{Framer: system.Framer(r.names), r: r}
		var asked []*message
		for _, b := range [][]byte{zkHello, request} {
			if size, frame := cut.Next(b); size > 0 {
				m := &message{body: frame}
				m.event.Process = "client-1"
				asked = cut.expect(asked, m)
			}
		}
		for rest := slices.Concat(zkWelcome, answer); len(rest) > 0; {
			size := cut.answerSize(rest)
			if size == 0 {
				return
			}
			if size > len(rest) {
				t.Fatalf("a message of %d bytes in %d bytes", size, len(rest))
			}
			cut.read(rest[:size], asked)
			rest = rest[size:]
		}
	})
}
