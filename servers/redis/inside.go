package redis

import (
	"bufio"
	"bytes"
	"reflect"
	"strconv"
	"sync"

	"github.com/alicebob/miniredis/v2"
	mserver "github.com/alicebob/miniredis/v2/server"
)

// An innerConnection is a connection of a server to itself, for commands that run as one
// whole: those of a script or of a transaction. They are answered while the server is
// locked.
type innerConnection struct {
	n    *node
	peer *mserver.Peer
	out  bytes.Buffer
	// held is the number of bytes that the host has reserved for out.
	held int
}

// Write stores what the server answers, as long as the world has room for it.
func (in *innerConnection) Write(b []byte) (int, error) {
	if in.n.host.Reserve(len(b)) {
		in.out.Write(b)
		in.held += len(b)
	}
	return len(b), nil
}

// openInner returns an inner connection on the database that another connection has
// selected.
func (n *node) openInner(of *mserver.Peer) *innerConnection {
	in := n.spareInner
	n.spareInner = nil
	if in == nil {
		in = &innerConnection{n: n}
		in.peer = mserver.NewPeer(bufio.NewWriterSize(in, 64))
	}
	in.peer.Ctx, in.peer.Resp3, in.peer.ClientName = newNestedCtx(), false, ""
	if db := n.selected[of.Ctx]; db != 0 {
		in.run("SELECT", strconv.Itoa(db))
	}
	return in
}

// run answers a command.
func (in *innerConnection) run(words ...string) []byte {
	in.n.mini.Server().Dispatch(in.peer, words)
	in.peer.Flush()
	reply := bytes.Clone(in.out.Bytes())
	in.out.Reset()
	in.n.host.Unreserve(in.held)
	in.held = 0
	return reply
}

// close ends the connection, and returns the database that it had selected.
func (in *innerConnection) close() (db int) {
	db = in.n.selected[in.peer.Ctx]
	delete(in.n.selected, in.peer.Ctx)
	in.n.spareInner = in
	return db
}

// nestedCtx is miniredis's context of a connection of a script. Its type is not exported,
// and on such a connection miniredis assumes that the server is locked already. nestedCtx
// obtains one by running a script and looking at a command of it.
var nestedCtx = sync.OnceValue(func() (ctx reflect.Value) {
	m := miniredis.NewMiniRedis()
	if c, err := m.Dial(); err == nil {
		c.Close()
	}
	defer m.Close()
	m.Server().SetPreHook(func(c *mserver.Peer, name string, _ ...string) bool {
		if name == "PING" {
			ctx = reflect.ValueOf(c.Ctx).Elem()
		}
		return false
	})
	m.Server().Dispatch(mserver.NewPeer(bufio.NewWriter(&bytes.Buffer{})), []string{"EVAL", "redis.call('PING')", "0"})
	return ctx
})

// newConnectionCtx returns miniredis's context of a new connection.
func newConnectionCtx() any { return reflect.New(nestedCtx().Type()).Interface() }

// newNestedCtx returns the context of a new connection on which the server is locked
// already.
func newNestedCtx() any {
	v := reflect.New(nestedCtx().Type())
	v.Elem().Set(nestedCtx())
	return v.Interface()
}
