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

// An innerConnection is a connection of the server to itself, for the commands of a script
// or a transaction. They are answered while miniredis is locked, so no other command comes
// in between.
type innerConnection struct {
	n        *node
	miniPeer *mserver.Peer
	// out has what miniredis has answered to the current command.
	out bytes.Buffer
	// reserved is how many bytes out takes of the memory that the world may use.
	reserved int
}

// Write stores what miniredis answers, as long as the world has memory for it.
func (in *innerConnection) Write(b []byte) (int, error) {
	if in.n.host.Reserve(len(b)) {
		in.out.Write(b)
		in.reserved += len(b)
	}
	return len(b), nil
}

// openInner returns an inner connection for a client's connection. It starts in the
// database that the client has selected.
func (n *node) openInner(outer *mserver.Peer) *innerConnection {
	in := n.spareInner
	n.spareInner = nil
	if in == nil {
		in = &innerConnection{n: n}
		in.miniPeer = mserver.NewPeer(bufio.NewWriterSize(in, 64))
	}
	in.miniPeer.Ctx, in.miniPeer.Resp3, in.miniPeer.ClientName = newNestedCtx(), false, ""
	if db := n.selectedDB[outer.Ctx]; db != 0 {
		in.run("SELECT", strconv.Itoa(db))
	}
	return in
}

// run executes a command and returns the reply.
func (in *innerConnection) run(words ...string) []byte {
	in.n.mini.Server().Dispatch(in.miniPeer, words)
	in.miniPeer.Flush()
	reply := bytes.Clone(in.out.Bytes())
	in.out.Reset()
	in.n.host.Unreserve(in.reserved)
	in.reserved = 0
	return reply
}

// close ends the connection, and returns the database that was selected on it.
func (in *innerConnection) close() (db int) {
	db = in.n.selectedDB[in.miniPeer.Ctx]
	delete(in.n.selectedDB, in.miniPeer.Ctx)
	in.n.spareInner = in
	return db
}

// nestedCtx is the context that miniredis gives to the connection on which a script's
// commands run. On such a connection miniredis assumes that it is locked already. The
// context's type is not exported, so nestedCtx runs a script and copies the context of a
// command in it.
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

// newConnectionCtx returns a context for a new ordinary connection of miniredis.
func newConnectionCtx() any { return reflect.New(nestedCtx().Type()).Interface() }

// newNestedCtx returns a context for a new connection on which miniredis assumes that it is
// locked already.
func newNestedCtx() any {
	v := reflect.New(nestedCtx().Type())
	v.Elem().Set(nestedCtx())
	return v.Interface()
}
