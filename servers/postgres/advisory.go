package postgres

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/locksim/locksim/trace"
)

// advisoryLocks are the server's advisory locks. A session can hold the same lock several times. In
// addition, the session's transaction can hold the lock once.
type advisoryLocks struct {
	s    *server
	held map[advisoryLock]*holder
}

// An advisoryLock identifies an advisory lock by one number of 64 bits, or by a pair of
// numbers of 32 bits.
type advisoryLock struct {
	number int64
	isPair bool
}

// A holder is the session that holds a lock. The session holds it until all claims are
// given up. A transaction's claim ends with the transaction.
type holder struct {
	b      *backend
	claims []claim // the earliest first; at most one for each transaction
}

// A claim is one acquisition of a lock by a session. Behind a pooler the claims of one
// session may come from several clients.
type claim struct {
	by *trace.Actor
	tx *tx // the transaction that has the claim; nil if the session has it
}

func (a advisoryLock) String() string {
	if a.isPair {
		return strconv.FormatInt(a.number>>32, 10) + "," + strconv.FormatInt(int64(int32(a.number)), 10)
	}
	return strconv.FormatInt(a.number, 10)
}

// key returns the key by which scenarios and traces name the lock.
func (a advisoryLock) key() string { return "advisory/" + a.String() }

// compare orders locks: single numbers come before pairs, and both are ordered by their
// numbers.
func (a advisoryLock) compare(b advisoryLock) int {
	switch {
	case a.isPair == b.isPair:
		return cmp.Compare(a.number, b.number)
	case b.isPair:
		return -1
	}
	return 1
}

// isFree reports whether a session could acquire a lock now: no session holds it, or the
// session itself does.
func (l *advisoryLocks) isFree(a advisoryLock, b *backend) bool {
	h := l.held[a]
	return h == nil || h.b == b
}

// acquire gives a lock to a session, or to its transaction t if that is not nil.
func (l *advisoryLocks) acquire(a advisoryLock, b *backend, t *tx) {
	h := l.held[a]
	switch {
	case h == nil:
		h = &holder{b: b}
		l.held[a] = h
		b.advisoryLocks = append(b.advisoryLocks, a)
	case t != nil && slices.ContainsFunc(h.claims, func(c claim) bool { return c.tx == t }):
		return
	}
	previous := h.owner()
	h.claims = append(h.claims, claim{b.actor(), t})
	if t != nil {
		b.txAdvisoryLocks = append(b.txAdvisoryLocks, a)
	}
	l.s.register.emitAdvisoryGrant(b, a, previous)
}

// owner returns the acquisition with the latest claim; nil if it is unknown.
func (h *holder) owner() *trace.Actor {
	if n := len(h.claims); n > 0 {
		return h.claims[n-1].by
	}
	return nil
}

// release removes one claim of the session, preferably a claim of the client that asks for the
// release. It never removes the claim of a transaction, and returns false if the session has no
// other claim.
func (l *advisoryLocks) release(a advisoryLock, b *backend) bool {
	h := l.held[a]
	if h == nil || h.b != b {
		return false
	}
	index := -1
	for i, c := range h.claims {
		if c.tx == nil && (index < 0 || sameAcquisition(c.by, b.actor()) || !sameAcquisition(h.claims[index].by, b.actor())) {
			index = i
		}
	}
	if index < 0 {
		return false
	}
	l.setClaims(a, slices.Delete(slices.Clone(h.claims), index, index+1))
	return true
}

// setClaims replaces the claims of a lock, and frees the lock if none is left.
func (l *advisoryLocks) setClaims(a advisoryLock, claims []claim) {
	h := l.held[a]
	previous := h.owner()
	h.claims = claims
	if len(claims) == 0 {
		delete(l.held, a)
		h.b.advisoryLocks = slices.DeleteFunc(h.b.advisoryLocks, func(o advisoryLock) bool { return o == a })
		l.s.register.emitRelease(h.b, a.key())
	} else if !sameAcquisition(previous, h.owner()) {
		l.s.register.emitAdvisoryHandover(h.b, a, h.owner())
	}
}

// sameAcquisition reports whether two commands belong to the same acquisition.
func sameAcquisition(a, b *trace.Actor) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Client == b.Client && a.Section == b.Section
}

// releaseTx removes the claims of a transaction.
func (l *advisoryLocks) releaseTx(t *tx) {
	heldLocks := t.b.txAdvisoryLocks
	t.b.txAdvisoryLocks = nil
	for _, a := range heldLocks {
		l.setClaims(a, slices.DeleteFunc(slices.Clone(l.held[a].claims), func(c claim) bool { return c.tx == t }))
	}
}

// releaseAll releases all locks of a session.
func (l *advisoryLocks) releaseAll(b *backend) {
	for _, a := range slices.Clone(b.advisoryLocks) {
		l.setClaims(a, nil)
	}
}
