package redis

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	mserver "github.com/alicebob/miniredis/v2/server"
)

// A transaction is the commands that a client has queued since MULTI. The node queues and
// executes them itself: miniredis would execute them without our corrections, and scripts
// with its own interpreter. miniredis only checks whether commands are well formed and
// whether a watched key has changed.
type transaction struct {
	commands [][]string
	// hasErrors reports whether a command was refused, so that EXEC will discard the
	// transaction.
	hasErrors bool
	// checker is a connection on which miniredis is in a transaction that is never
	// executed. Each command is sent there to find out whether it is well formed.
	checker *mserver.Peer
}

// transact answers commands about transactions, and queues commands that belong to one. It
// reports whether it has answered; if not, the command is an ordinary one.
func (r *clientConn) transact(name string, words []string) bool {
	n := r.n
	switch {
	case name == "MULTI" && r.tx == nil && len(words) == 1:
		r.tx = &transaction{checker: mserver.NewPeer(bufio.NewWriter(io.Discard))}
		n.dispatch(r.tx.checker, "MULTI")
		r.miniPeer.WriteOK()
	case r.tx == nil, name == "QUIT":
		return false
	case name == "MULTI":
		r.miniPeer.WriteError("ERR MULTI calls can not be nested")
	case name == "WATCH":
		r.miniPeer.WriteError("ERR WATCH inside MULTI is not allowed")
	case name == "EXEC":
		tx := r.tx
		r.tx = nil
		if len(words) > 1 {
			n.query(r.miniPeer, "UNWATCH")
			r.miniPeer.WriteError("EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command")
		} else if tx.hasErrors {
			n.query(r.miniPeer, "UNWATCH")
			r.miniPeer.WriteError("EXECABORT Transaction discarded because of previous errors.")
		} else {
			r.exec(tx.commands)
		}
	case name == "DISCARD" && len(words) == 1:
		r.tx = nil
		n.query(r.miniPeer, "UNWATCH")
		r.miniPeer.WriteOK()
	case name == "SUBSCRIBE", name == "PSUBSCRIBE":
		r.writeError("ERR " + name + " in a transaction is not simulated")
	default:
		if refusal := n.query(r.tx.checker, words...); strings.HasPrefix(refusal, "-ERR wrong number of arguments") {
			r.writeError(strings.TrimSuffix(refusal[1:], "\r\n"))
			return true
		}
		r.tx.commands = append(r.tx.commands, words)
		r.miniPeer.WriteInline("QUEUED")
	}
	return true
}

// writeError writes an error as the answer to a command. If the command belongs to a
// transaction, EXEC will discard that transaction.
func (r *clientConn) writeError(errorText string) {
	if r.tx != nil {
		r.tx.hasErrors = true
	}
	// WriteError of miniredis would assume UTF-8.
	r.miniPeer.WriteRaw("-" + strings.NewReplacer("\r", " ", "\n", " ").Replace(errorText) + "\r\n")
}

// exec executes the commands of a transaction, without other clients' commands in between,
// unless a watched key has changed.
func (r *clientConn) exec(commands [][]string) {
	n := r.n
	n.query(r.miniPeer, "MULTI")
	if unwatched := n.query(r.miniPeer, "EXEC"); unwatched != "*0\r\n" {
		r.miniPeer.WriteRaw(nullFor(unwatched, r.miniPeer.Resp3)) // a watched key has changed
		return
	}
	in := n.openInner(r.miniPeer)
	in.miniPeer.Resp3 = r.miniPeer.Resp3
	replies := make([]string, len(commands))
	unlock := n.lock()
	for i, words := range commands {
		if canBlock(toUpper(words[0]), words) {
			// In a transaction the command does not block, but miniredis would let it
			// block on an inner connection.
			unlock()
			replies[i] = n.runInTransaction(in.miniPeer, words)
			unlock = n.lock()
			continue
		}
		replies[i] = string(in.run(words...))
	}
	unlock()
	r.miniPeer.WriteLen(len(replies))
	r.miniPeer.WriteRaw(strings.Join(replies, ""))
	if db := in.close(); db != n.selectedDB[r.miniPeer.Ctx] {
		n.query(r.miniPeer, "SELECT", strconv.Itoa(db))
		n.selectedDB[r.miniPeer.Ctx] = db
	}
}
