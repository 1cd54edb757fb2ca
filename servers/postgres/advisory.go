package postgres

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/locksim/locksim/trace"
)

// advisoryLocks are the server's advisory locks. A session can hold one several times; its
// transaction can hold it once.
type advisories struct {
	s    *server
	held map[advisory]*holder
}

// An advisoryLock is the number of an advisory lock: one of 64 bits, or a pair of 32 bits.
type advisory struct {
	number int64
	pair   bool
}

// A holder is the session that holds a lock. The session holds it until all claims are
// given up; a transaction's claim ends with the transaction.
type holder struct {
	b      *backend
	claims []claim // in order; at most one for each transaction
}

// A claim is one acquisition of a lock by a session. Behind a pooler the claims of one
// session may come from several clients.
type claim struct {
	by *trace.Actor
	of *tx // nil if the claim is the session's
}

func (a advisory) String() string {
	if a.pair {
		return strconv.FormatInt(a.number>>32, 10) + "," + strconv.FormatInt(int64(int32(a.number)), 10)
	}
	return strconv.FormatInt(a.number, 10)
}

// key returns the key by which the world knows the lock.
func (a advisory) key() string { return "advisory/" + a.String() }

// compare orders single numbers before pairs, and each of them by number.
func (a advisory) compare(b advisory) int {
	switch {
	case a.pair == b.pair:
		return cmp.Compare(a.number, b.number)
	case b.pair:
		return -1
	}
	return 1
}

// isFree reports whether a session could acquire a lock: nobody holds it, or the session
// itself does.
func (l *advisories) free(a advisory, b *backend) bool {
	h := l.held[a]
	return h == nil || h.b == b
}

// acquire gives a lock to a session, or to its transaction t if that is not nil.
func (l *advisories) take(a advisory, b *backend, of *tx) {
	h := l.held[a]
	switch {
	case h == nil:
		h = &holder{b: b}
		l.held[a] = h
		b.advisory = append(b.advisory, a)
	case of != nil && slices.ContainsFunc(h.claims, func(c claim) bool { return c.of == of }):
		return
	}
	was := h.owner()
	h.claims = append(h.claims, claim{b.by(), of})
	if of != nil {
		b.inTx = append(b.inTx, a)
	}
	l.s.register.advisoryTaken(b, a, was)
}

// owner returns the client with the latest claim; nil if it is unknown.
func (h *holder) owner() *trace.Actor {
	if n := len(h.claims); n > 0 {
		return h.claims[n-1].by
	}
	return nil
}

// release removes one claim of the session, preferably one of the client that asks. It
// returns false if the session has none.
func (l *advisories) give(a advisory, b *backend) bool {
	h := l.held[a]
	if h == nil || h.b != b {
		return false
	}
	which := -1
	for i, c := range h.claims {
		if c.of == nil && (which < 0 || same(c.by, b.by()) || !same(h.claims[which].by, b.by())) {
			which = i
		}
	}
	if which < 0 {
		return false
	}
	l.settle(a, slices.Delete(slices.Clone(h.claims), which, which+1))
	return true
}

// setClaims replaces the claims of a lock, and frees the lock if none is left.
func (l *advisories) settle(a advisory, left []claim) {
	h := l.held[a]
	was := h.owner()
	h.claims = left
	if len(left) == 0 {
		delete(l.held, a)
		h.b.advisory = slices.DeleteFunc(h.b.advisory, func(o advisory) bool { return o == a })
		l.s.register.frees(h.b, a.key())
	} else if !same(was, h.owner()) {
		l.s.register.advisoryLeft(h.b, a, h.owner())
	}
}

// sameAcquisition reports whether two commands belong to the same acquisition.
func same(a, b *trace.Actor) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Client == b.Client && a.Section == b.Section
}

// releaseTx releases the locks of a transaction.
func (l *advisories) ended(t *tx) {
	all := t.b.inTx
	t.b.inTx = nil
	for _, a := range all {
		l.settle(a, slices.DeleteFunc(slices.Clone(l.held[a].claims), func(c claim) bool { return c.of == t }))
	}
}

// releaseAll releases all locks of a session.
func (l *advisories) all(b *backend) {
	for _, a := range slices.Clone(b.advisory) {
		l.settle(a, nil)
	}
}
