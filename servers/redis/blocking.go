package redis

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	mserver "github.com/alicebob/miniredis/v2/server"

	"github.com/locksim/locksim/sim"
)

// A blockedCommand waits for other clients to provide what it asks for. miniredis would
// wait in a goroutine, whose turn would depend on the scheduler. Here the command is tried
// again after each other command, as if in a transaction, where it does not wait. Waiting
// commands are served in the order in which they came, after the command that serves them
// has ended.
type blockedCommand struct {
	by        *peer
	request   *sim.Request
	words     []string
	nullReply string // the reply at the timeout
	done      bool
}

// canBlock reports whether a command may wait for other commands.
func canBlock(name string, args []string) bool {
	switch name {
	case "BLPOP", "BRPOP", "BRPOPLPUSH", "BLMOVE", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP":
		return true
	case "XREAD", "XREADGROUP":
		return slices.ContainsFunc(args, func(a string) bool { return strings.EqualFold(a, "BLOCK") })
	}
	return false
}

// runBlocking answers a command that may block, if it can be answered immediately.
// Otherwise the command waits.
func (r *peer) runBlocking(m *sim.Request, name string, words []string) {
	n := r.n
	n.updateTime()
	words = r.resolveLastID(name, words)
	reply := n.runInTransaction(r.mini, words)
	switch reply {
	case "*-1\r\n", "$-1\r\n", "_\r\n":
		b := &blockedCommand{by: r, request: m, words: words, nullReply: reply}
		r.busy = true
		n.blocked = append(n.blocked, b)
		if timeout := blockTimeout(name, words); timeout > 0 {
			n.host.Clock().AfterFunc(timeout, func() {
				r.end.RunOnLoop(func() { b.finish(b.nullReply) })
			})
		}
		return
	}
	r.mini.WriteRaw(reply)
	if r.sendAnswer(m) {
		n.serveBlocked()
	}
}

// resolveLastID replaces XREAD's $ by the ID of the current last entry.
func (r *peer) resolveLastID(name string, words []string) []string {
	streams := slices.IndexFunc(words, func(w string) bool { return strings.EqualFold(w, "STREAMS") })
	if name != "XREAD" || streams < 0 {
		return words
	}
	words = slices.Clone(words)
	names := words[streams+1:]
	for i := len(names) / 2; i < len(names); i++ {
		if names[i] != "$" {
			continue
		}
		names[i] = "0-0"
		if last := strings.Split(r.n.query(r.mini, "XREVRANGE", names[i-len(names)/2], "+", "-", "COUNT", "1"), "\r\n"); len(last) > 3 {
			names[i] = last[3] // *1, *2, the length of the ID, the ID
		}
	}
	return words
}

// blockTimeout returns how long a command waits; 0 is forever.
func blockTimeout(name string, words []string) time.Duration {
	in := time.Second
	word := words[len(words)-1]
	switch name {
	case "BLMPOP", "BZMPOP":
		word = words[1]
	case "XREAD", "XREADGROUP":
		in = time.Millisecond
		word = words[slices.IndexFunc(words, func(w string) bool { return strings.EqualFold(w, "BLOCK") })+1]
	}
	timeout, err := strconv.ParseFloat(word, 64) // miniredis has parsed it before
	if err != nil {
		return 0
	}
	return time.Duration(timeout * float64(in))
}

// runInTransaction returns miniredis's answer to a command in a transaction of its own. It
// uses a connection of its own, because on the client's the command might end what the
// client watches.
func (n *node) runInTransaction(of *mserver.Peer, words []string) string {
	c := mserver.NewPeer(bufio.NewWriter(io.Discard))
	c.Ctx, c.Resp3 = newConnectionCtx(), of.Resp3
	if db := n.selected[of.Ctx]; db != 0 {
		n.query(c, "SELECT", strconv.Itoa(db))
	}
	n.query(c, "MULTI")
	if refusal := n.query(c, words...); strings.HasPrefix(refusal, "-") {
		return refusal
	}
	return nullFor(strings.TrimPrefix(n.query(c, "EXEC"), "*1\r\n"), c.Resp3)
}

// nullFor returns a reply with the null of RESP 3 if the client uses that: miniredis sends
// a missing array as in RESP 2.
func nullFor(reply string, resp3 bool) string {
	if resp3 && reply == "*-1\r\n" {
		return "_\r\n"
	}
	return reply
}

// serveBlocked answers the blocked commands that can be answered now.
func (n *node) serveBlocked() {
	for i := 0; i < len(n.blocked); i++ {
		b := n.blocked[i]
		if reply := n.runInTransaction(b.by.mini, b.words); reply != b.nullReply && !b.keepsWaiting(reply) {
			b.finish(reply)
			i = -1 // it may have provided something itself, and may have left the list
		}
	}
}

// keepsWaiting reports whether a command that takes from a key keeps waiting because the
// key holds another type.
func (b *blockedCommand) keepsWaiting(reply string) bool {
	name := strings.ToUpper(b.words[0])
	return strings.HasPrefix(reply, "-WRONGTYPE") && strings.Contains(name, "POP") && name != "BRPOPLPUSH"
}

// finish answers the command and ends the wait.
func (b *blockedCommand) finish(reply string) {
	r := b.by
	if b.done || !r.n.host.IsUp() {
		return
	}
	b.remove()
	r.mini.WriteRaw(reply)
	if r.sendAnswer(b.request) {
		r.unblock()
	}
}

func (b *blockedCommand) remove() {
	b.done = true
	b.by.n.blocked = slices.DeleteFunc(b.by.n.blocked, func(o *blockedCommand) bool { return o == b })
}
