package postgres

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/locksim/locksim/trace"
)

// advisories are the locks that mean what the clients agree they mean. One is a session's, as
// often as it has taken it, or a transaction's.
type advisories struct {
	s    *server
	held map[advisory]*holder
}

// An advisory is a number: one of 64 bits, or two of 32.
type advisory struct {
	number int64
	pair   bool
}

// A holder is the session that has a lock, and claims are why: it has the lock until all are
// given up, the transactions' with their end.
type holder struct {
	b      *backend
	claims []claim // in order, and of each transaction one at most
}

// A claim is whose wish it was that the session should have the lock. Behind a pooler many
// clients may have wished so.
type claim struct {
	by *trace.Actor
	of *tx // nil is the session's
}

func (a advisory) String() string {
	if a.pair {
		return strconv.FormatInt(a.number>>32, 10) + "," + strconv.FormatInt(int64(int32(a.number)), 10)
	}
	return strconv.FormatInt(a.number, 10)
}

// key is the key of the lock that it is.
func (a advisory) key() string { return "advisory/" + a.String() }

// compare puts those of one number before those of two, and these by their numbers.
func (a advisory) compare(b advisory) int {
	switch {
	case a.pair == b.pair:
		return cmp.Compare(a.number, b.number)
	case b.pair:
		return -1
	}
	return 1
}

// free says whether a session could have a lock.
func (l *advisories) free(a advisory, b *backend) bool {
	h := l.held[a]
	return h == nil || h.b == b
}

// take gives a lock to a session, or to its transaction.
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

// owner is who has claimed it last; nil if that is nobody who is known.
func (h *holder) owner() *trace.Actor {
	if n := len(h.claims); n > 0 {
		return h.claims[n-1].by
	}
	return nil
}

// give takes a session's claim off it, of whoever asks if there is one; false if it had none.
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

// settle leaves some claims of a lock, which is free when there is none any more.
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

// same says whether two commands are of the same acquisition.
func same(a, b *trace.Actor) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Client == b.Client && a.Section == b.Section
}

// ended frees what a transaction had.
func (l *advisories) ended(t *tx) {
	all := t.b.inTx
	t.b.inTx = nil
	for _, a := range all {
		l.settle(a, slices.DeleteFunc(slices.Clone(l.held[a].claims), func(c claim) bool { return c.of == t }))
	}
}

// all frees what a session has.
func (l *advisories) all(b *backend) {
	for _, a := range slices.Clone(b.advisory) {
		l.settle(a, nil)
	}
}
