package redis

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	mserver "github.com/alicebob/miniredis/v2/server"
)

// A transaction is what a client has queued since MULTI. miniredis would answer it without
// our corrections, and in the words of its own interpreter; it is left to say which
// commands are well formed, and whether a key that was watched has changed.
type transaction struct {
	commands [][]string
	// dirty: one of them was refused, so there will be none.
	dirty bool
	// judge is a connection on which miniredis is in a transaction that never ends.
	judge *mserver.Peer
}

// transact answers a command that is about transactions, or belongs to one. It reports
// whether it has.
func (r *peer) transact(name string, words []string) bool {
	n := r.n
	switch {
	case name == "MULTI" && r.tx == nil && len(words) == 1:
		r.tx = &transaction{judge: mserver.NewPeer(bufio.NewWriter(io.Discard))}
		n.dispatch(r.tx.judge, "MULTI")
		r.mini.WriteOK()
	case r.tx == nil, name == "QUIT":
		return false
	case name == "MULTI":
		r.mini.WriteError("ERR MULTI calls can not be nested")
	case name == "WATCH":
		r.mini.WriteError("ERR WATCH inside MULTI is not allowed")
	case name == "EXEC":
		tx := r.tx
		r.tx = nil
		if len(words) > 1 {
			n.answer(r.mini, "UNWATCH")
			r.mini.WriteError("EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command")
		} else if tx.dirty {
			n.answer(r.mini, "UNWATCH")
			r.mini.WriteError("EXECABORT Transaction discarded because of previous errors.")
		} else {
			r.exec(tx.commands)
		}
	case name == "DISCARD" && len(words) == 1:
		r.tx = nil
		n.answer(r.mini, "UNWATCH")
		r.mini.WriteOK()
	case name == "SUBSCRIBE", name == "PSUBSCRIBE":
		r.wrong("ERR " + name + " in a transaction is not simulated")
	default:
		if refusal := n.answer(r.tx.judge, words...); strings.HasPrefix(refusal, "-ERR wrong number of arguments") {
			r.wrong(strings.TrimSuffix(refusal[1:], "\r\n"))
			return true
		}
		r.tx.commands = append(r.tx.commands, words)
		r.mini.WriteInline("QUEUED")
	}
	return true
}

// wrong refuses a command. If that was to be one of a transaction, there will be none.
func (r *peer) wrong(why string) {
	if r.tx != nil {
		r.tx.dirty = true
	}
	// Not by WriteError, which takes it for UTF-8.
	r.mini.WriteRaw("-" + strings.NewReplacer("\r", " ", "\n", " ").Replace(why) + "\r\n")
}

// exec answers the commands of a transaction, with nobody between them.
func (r *peer) exec(commands [][]string) {
	n := r.n
	n.answer(r.mini, "MULTI")
	if unwatched := n.answer(r.mini, "EXEC"); unwatched != "*0\r\n" {
		r.mini.WriteRaw(null(unwatched, r.mini.Resp3)) // what it watched has changed
		return
	}
	in := n.inside(r.mini)
	in.peer.Resp3 = r.mini.Resp3
	replies := make([]string, len(commands))
	unlock := n.lock()
	for i, words := range commands {
		if blocks(strings.ToUpper(words[0]), words) {
			// In a transaction it does not, but one that is inside waits to be let out.
			unlock()
			replies[i] = n.alone(in.peer, words)
			unlock = n.lock()
			continue
		}
		replies[i] = string(in.ask(words...))
	}
	unlock()
	r.mini.WriteLen(len(replies))
	r.mini.WriteRaw(strings.Join(replies, ""))
	if db := in.leave(); db != n.selected[r.mini.Ctx] {
		n.answer(r.mini, "SELECT", strconv.Itoa(db))
		n.selected[r.mini.Ctx] = db
	}
}
