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
type inside struct {
	n    *node
	peer *mserver.Peer
	out  bytes.Buffer
	// held is the number of bytes that the host has reserved for out.
	held int
}

// Write stores what the server answers, as long as the world has room for it.
func (in *inside) Write(b []byte) (int, error) {
	if in.n.host.Hold(len(b)) {
		in.out.Write(b)
		in.held += len(b)
	}
	return len(b), nil
}

// openInner returns an inner connection on the database that another connection has
// selected.
func (n *node) inside(of *mserver.Peer) *inside {
	in := n.spare
	n.spare = nil
	if in == nil {
		in = &inside{n: n}
		in.peer = mserver.NewPeer(bufio.NewWriterSize(in, 64))
	}
	in.peer.Ctx, in.peer.Resp3, in.peer.ClientName = newNested(), false, ""
	if db := n.selected[of.Ctx]; db != 0 {
		in.ask("SELECT", strconv.Itoa(db))
	}
	return in
}

// run answers a command.
func (in *inside) ask(words ...string) []byte {
	in.n.mini.Server().Dispatch(in.peer, words)
	in.peer.Flush()
	reply := bytes.Clone(in.out.Bytes())
	in.out.Reset()
	in.n.host.Drop(in.held)
	in.held = 0
	return reply
}

// close ends the connection, and returns the database that it had selected.
func (in *inside) leave() (db int) {
	db = in.n.selected[in.peer.Ctx]
	delete(in.n.selected, in.peer.Ctx)
	in.n.spare = in
	return db
}

// nestedCtx is miniredis's context of a connection of a script. Its type is not exported,
// and on such a connection miniredis assumes that the server is locked already. nestedCtx
// obtains one by running a script and looking at a command of it.
var nested = sync.OnceValue(func() (ctx reflect.Value) {
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
func newConnection() any { return reflect.New(nested().Type()).Interface() }

// newNestedCtx returns the context of a new connection on which the server is locked
// already.
func newNested() any {
	v := reflect.New(nested().Type())
	v.Elem().Set(nested())
	return v.Interface()
}
