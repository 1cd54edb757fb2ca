package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
)

// Revoke is as in [sim.Revocable]: DELETE of each row that is a lease of the client's, which
// waits for a transaction that has locked the row, as any DELETE does. What no row says a
// session has, or waits for: pg_terminate_backend ends those of the client that have an
// advisory lock or a row of a lock, or wait for one. With session it ends all sessions of the
// client.
func (s *server) Revoke(client string, session bool) (found bool) {
	if s.readOnly() {
		return false
	}
	s.turn(func() {
		for _, b := range slices.Clone(s.backends) {
			if session && b.servesClient(client) || !session && b.claims(client) {
				found = true
				b.revoked = true
				b.terminate()
			}
		}
		if session {
			return
		}
		for i := range s.register.leases {
			if l := &s.register.leases[i]; l.Stands && l.Owner != nil && l.Owner.Client == client {
				found = true
				s.operate(l)
			}
		}
	})
	return found
}

// servesClient says whether a session is a client's; behind a pooler, whether the client has it
// now.
func (b *backend) servesClient(client string) bool {
	if b.on != nil {
		return b.on.end.Peer() == client
	}
	return b.end != nil && !b.pooled && b.end.Peer() == client
}

// claims says whether a session has a lock of the world for a client, or waits for one.
func (b *backend) claims(client string) bool {
	for _, key := range b.s.register.others {
		if was := b.s.register.taken[key]; was != nil && was.Owner != nil && was.Owner.Client == client && b.holds(key) {
			return true
		}
	}
	return b.servesClient(client) && b.running != nil && b.running.wait != nil && !b.running.commits
}

// holds says whether a session has what a key of a lock stands for: an advisory lock, or a row
// that its transaction has locked.
func (b *backend) holds(key string) bool {
	if slices.ContainsFunc(b.advisory, func(a advisory) bool { return a.key() == key }) {
		return true
	}
	return b.tx != nil && slices.ContainsFunc(b.tx.rows, func(r *row) bool { return b.s.register.keyOf(r) == key })
}

// operate deletes the row of a lease, in a session of the operator's, which ends with it.
func (s *server) operate(l *lease) {
	v := s.register.row(l)
	if v == nil {
		return
	}
	t := v.row.of
	var where []string
	for _, k := range t.keys {
		if value := v.values[k.columns[0]]; len(k.columns) == 1 && value != nil && write(value) == l.row {
			where = append(where, fmt.Sprintf("%s = '%s'", t.columns[k.columns[0]].name, strings.ReplaceAll(l.row, "'", "''")))
		}
	}
	statements, err := sql.Parse(fmt.Sprintf("DELETE FROM %s WHERE %s", t.name, strings.Join(where, " AND ")))
	if err != nil {
		s.host.Doubt("nobody could delete a row by hand: " + err.Error())
		return
	}
	b := newBackend(s, nil)
	b.begun, b.revoked, b.gone = true, true, true
	b.asked, b.askedAt = s.now(), s.timers.Now()
	b.begin(func() { b.script(func() []sql.Statement { return statements }) })
	b.step()
}
