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

// A blockedCommand is a command that waits until another client provides the data that it asks for,
// such as BLPOP on an empty list. With miniredis alone, each of them would wait in a goroutine, and
// Go's scheduler would decide which goroutine is served first. Instead, after each command that it
// executes, the node tries the waiting commands again, in the order in which they arrived. It tries
// them in a transaction of miniredis, where no command waits.
type blockedCommand struct {
	conn       *clientConn
	request    *sim.Request
	words      []string
	nullReply  string // the null with which the command is answered at its timeout
	isFinished bool
}

// canBlock reports whether a command can wait for other clients.
func canBlock(name string, args []string) bool {
	switch name {
	case "BLPOP", "BRPOP", "BRPOPLPUSH", "BLMOVE", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP":
		return true
	case "XREAD", "XREADGROUP":
		return slices.ContainsFunc(args, func(a string) bool { return strings.EqualFold(a, "BLOCK") })
	}
	return false
}

// runBlocking executes a command that can wait. If it cannot be answered now, it becomes a
// blockedCommand.
func (r *clientConn) runBlocking(m *sim.Request, name string, words []string) {
	n := r.n
	n.updateTime()
	words = r.resolveLastID(name, words)
	reply := n.runInTransaction(r.miniPeer, words)
	switch reply {
	case "*-1\r\n", "$-1\r\n", "_\r\n":
		b := &blockedCommand{conn: r, request: m, words: words, nullReply: reply}
		r.isBlocked = true
		n.blocked = append(n.blocked, b)
		if timeout := blockTimeout(name, words); timeout > 0 {
			n.host.Clock().AfterFunc(timeout, func() {
				r.end.RunOnLoop(func() { b.finish(b.nullReply) })
			})
		}
		return
	}
	r.miniPeer.WriteRaw(reply)
	if r.sendAnswer(m) {
		n.serveBlocked()
	}
}

// resolveLastID replaces each $ among the words of an XREAD by the ID of the stream's current last
// entry, for which $ stands. If the command kept its $, it would skip the entries that arrive while
// it waits.
func (r *clientConn) resolveLastID(name string, words []string) []string {
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
		if last := strings.Split(r.n.query(r.miniPeer, "XREVRANGE", names[i-len(names)/2], "+", "-", "COUNT", "1"), "\r\n"); len(last) > 3 {
			names[i] = last[3] // the lines of the reply: *1, *2, the length of the ID, the ID
		}
	}
	return words
}

// blockTimeout returns how long a command waits at most; 0 means without a limit.
func blockTimeout(name string, words []string) time.Duration {
	unit := time.Second
	word := words[len(words)-1]
	switch name {
	case "BLMPOP", "BZMPOP":
		word = words[1]
	case "XREAD", "XREADGROUP":
		unit = time.Millisecond
		word = words[slices.IndexFunc(words, func(w string) bool { return strings.EqualFold(w, "BLOCK") })+1]
	}
	timeout, err := strconv.ParseFloat(word, 64) // miniredis has accepted the word already
	if err != nil {
		return 0
	}
	return time.Duration(timeout * float64(unit))
}

// runInTransaction returns miniredis's answer to a command in a transaction that contains only this
// command. outer is the client's connection to miniredis. The transaction runs on another
// connection, because on outer its EXEC would end the client's WATCH.
func (n *node) runInTransaction(outer *mserver.Peer, words []string) string {
	c := mserver.NewPeer(bufio.NewWriter(io.Discard))
	c.Ctx, c.Resp3 = newConnectionCtx(), outer.Resp3
	if db := n.selectedDB[outer.Ctx]; db != 0 {
		n.query(c, "SELECT", strconv.Itoa(db))
	}
	n.query(c, "MULTI")
	if refusal := n.query(c, words...); strings.HasPrefix(refusal, "-") {
		return refusal
	}
	return nullFor(strings.TrimPrefix(n.query(c, "EXEC"), "*1\r\n"), c.Resp3)
}

// nullFor returns a reply of miniredis in the client's version of RESP: for a missing
// array, miniredis sends the null of RESP 2 also to clients that use RESP 3.
func nullFor(reply string, resp3 bool) string {
	if resp3 && reply == "*-1\r\n" {
		return "_\r\n"
	}
	return reply
}

// serveBlocked answers the waiting commands that can be answered now.
func (n *node) serveBlocked() {
	for i := 0; i < len(n.blocked); i++ {
		b := n.blocked[i]
		if reply := n.runInTransaction(b.conn.miniPeer, b.words); reply != b.nullReply && !b.keepsWaiting(reply) {
			b.finish(reply)
			i = -1 // start again: the command has left the list, and may have provided what an earlier one waits for
		}
	}
}

// keepsWaiting reports whether a command keeps waiting although it was answered with an
// error: commands that pop an element wait while the key holds another type.
func (b *blockedCommand) keepsWaiting(reply string) bool {
	name := toUpper(b.words[0])
	return strings.HasPrefix(reply, "-WRONGTYPE") && strings.Contains(name, "POP") && name != "BRPOPLPUSH"
}

// finish answers the command, and then executes the requests that have arrived after it on the same
// connection.
func (b *blockedCommand) finish(reply string) {
	r := b.conn
	if b.isFinished || !r.n.host.IsUp() {
		return
	}
	b.remove()
	r.miniPeer.WriteRaw(reply)
	if r.sendAnswer(b.request) {
		r.unblock()
	}
}

// remove takes the command from the list of waiting commands without an answer.
func (b *blockedCommand) remove() {
	b.isFinished = true
	b.conn.n.blocked = slices.DeleteFunc(b.conn.n.blocked, func(o *blockedCommand) bool { return o == b })
}
