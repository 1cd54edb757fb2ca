package postgres

import (
	"slices"
	"strconv"
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

// A holder is whose a lock is. Of one session several may be at once.
type holder struct {
	b     *backend
	times int   // by the session
	of    []*tx // by a transaction; at most one
}

func (a advisory) String() string {
	if a.pair {
		return strconv.FormatInt(a.number>>32, 10) + "," + strconv.FormatInt(int64(int32(a.number)), 10)
	}
	return strconv.FormatInt(a.number, 10)
}

// free says whether a session could have a lock.
func (l *advisories) free(a advisory, b *backend) bool {
	h := l.held[a]
	return h == nil || h.b == b
}

// take gives a lock to a session, or to its transaction.
func (l *advisories) take(a advisory, b *backend, of *tx) {
	h := l.held[a]
	if h == nil {
		h = &holder{b: b}
		l.held[a] = h
		l.s.register.advisoryTaken(b, a)
	}
	if of == nil {
		h.times++
		if !slices.Contains(b.advisory, a) {
			b.advisory = append(b.advisory, a)
		}
	} else if len(h.of) == 0 {
		h.of = []*tx{of}
		of.b.inTx = append(of.b.inTx, a)
	}
}

// give takes one off a session's; false if it had none.
func (l *advisories) give(a advisory, b *backend) bool {
	h := l.held[a]
	if h == nil || h.b != b || h.times == 0 {
		return false
	}
	if h.times--; h.times == 0 {
		b.advisory = slices.DeleteFunc(b.advisory, func(o advisory) bool { return o == a })
	}
	l.settle(a)
	return true
}

// settle frees a lock that nobody has any more.
func (l *advisories) settle(a advisory) {
	if h := l.held[a]; h.times == 0 && len(h.of) == 0 {
		delete(l.held, a)
		l.s.register.advisoryFreed(h.b, a)
	}
}

// ended frees what a transaction had.
func (l *advisories) ended(t *tx) {
	all := t.b.inTx
	t.b.inTx = nil
	for _, a := range all {
		l.held[a].of = nil
		l.settle(a)
	}
}

// all frees what a session has.
func (l *advisories) all(b *backend) {
	for _, a := range slices.Clone(b.advisory) {
		l.held[a].times = 0
		l.settle(a)
	}
	b.advisory = nil
}
