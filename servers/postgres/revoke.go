package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// Revoke is as in [sim.Revocable]. It deletes each lease row of the client with DELETE. The
// DELETE waits, like any other, if a transaction has locked the row. No row shows who holds
// an advisory lock or a row lock. So Revoke ends the client's sessions that hold such a
// lock or wait for one, as pg_terminate_backend does. If session is true, it instead ends
// all sessions of the client and deletes no row.
func (s *server) Revoke(client string, session bool) (found bool) {
	if s.isStandby() {
		return false
	}
	s.runTurn(func() {
		for _, b := range slices.Clone(s.backends) {
			if session && b.servesClient(client) || !session && b.usesLockFor(client) {
				found = true
				b.isRevoked = true
				b.terminate()
			}
		}
		if session {
			return
		}
		for i := range s.register.leases {
			if l := &s.register.leases[i]; l.IsActive && l.Owner != nil && l.Owner.Client == client {
				found = true
				s.deleteByOperator(l)
			}
		}
	})
	return found
}

// servesClient reports whether a session belongs to a client. A session behind a pooler
// belongs to the client that has it now.
func (b *backend) servesClient(client string) bool {
	if b.client != nil {
		return b.client.end.Peer() == client
	}
	return b.end != nil && !b.isPooled && b.end.Peer() == client
}

// usesLockFor reports whether a session holds one of the world's locks for a client, or
// waits for one.
func (b *backend) usesLockFor(client string) bool {
	for _, key := range b.s.register.keys {
		if grant := b.s.register.granted[key]; grant != nil && grant.Owner != nil && grant.Owner.Client == client && b.holds(key) {
			return true
		}
	}
	return b.servesClient(client) && b.running != nil && b.running.wait != nil && !b.running.isCommit
}

// holds reports whether a session holds the lock with the given key. The lock is an advisory
// lock, or a row that the session's transaction has locked.
func (b *backend) holds(key string) bool {
	if slices.ContainsFunc(b.advisoryLocks, func(a advisoryLock) bool { return a.key() == key }) {
		return true
	}
	return b.tx != nil && slices.ContainsFunc(b.tx.lockedRows, func(r *row) bool { return b.s.register.lockKey(r) == key })
}

// deleteByOperator deletes a lease row in a session of the operator. The session ends
// afterwards.
func (s *server) deleteByOperator(l *lease) {
	v := s.register.committedRow(l)
	if v == nil {
		return
	}
	t := v.row.table
	var where []string
	for _, k := range t.keys {
		if value := v.values[k.columns[0]]; len(k.columns) == 1 && value != nil && formatValue(value) == l.row {
			where = append(where, fmt.Sprintf("%s = '%s'", t.columns[k.columns[0]].name, strings.ReplaceAll(l.row, "'", "''")))
		}
	}
	statements, err := sql.Parse(fmt.Sprintf("DELETE FROM %s WHERE %s", t.name, strings.Join(where, " AND ")))
	if err != nil {
		s.host.Doubt("the operator could not delete a row: " + err.Error())
		return
	}
	b := newBackend(s, nil)
	b.isStarted, b.isRevoked, b.clientGone = true, true, true
	b.receivedAt, b.receivedMono = s.now(), s.timers.Now()
	b.startCoroutine(func() { b.runScript(func() []sql.Statement { return statements }) })
	b.serveQueued()
}
