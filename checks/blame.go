package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/trace"
)

// A Blame says whose fault a violation is. The zero Blame means that this is not known.
// Blames can be compared with ==.
type Blame struct {
	Kind BlameKind
	// broken are the assumptions that broke, as bits.
	broken uint8
}

// A BlameKind is the kind of cause that is to blame for a violation.
type BlameKind string

const (
	// The comments of [BlameLock], [BlameInherent] and [BlameAssumption] say when to use
	// these kinds.
	KindLock       BlameKind = "lock"
	KindInherent   BlameKind = "inherent: needs fencing"
	KindAssumption BlameKind = "assumption"
)

var (
	// BlameLock is the blame for a violation although everything that the lock relies on was in
	// order. Examples:
	//
	//   - Two leases overlap although a quorum of nodes kept the keys of both leases for the keys'
	//     TTL of true time, and both clients' clocks kept time.
	//   - A client is granted the lock although no node had granted it.
	//   - A lease had ended before acquire returned it.
	//   - An extend succeeded although the old and the new end of the lease had passed.
	//   - A holder that stops when it is notified of its loss is notified too late.
	//   - A command takes a key away from another acquisition.
	//   - The clients make no progress although the lock had all that it needs: see
	//     [history.History.CanServe].
	BlameLock = Blame{Kind: KindLock}
	// BlameInherent is the blame if two critical sections (the times from a grant to its release)
	// overlap although their leases do not, and the lock did not have to notify any client of a loss.
	// No lock whose grants end by time can avoid that.
	BlameInherent = Blame{Kind: KindInherent}
)

// BlameAssumption returns the blame for a violation that broken assumptions caused. Leases can
// overlap because nodes lost keys or ended keys too early, so that fewer nodes than a quorum kept
// them. Leases can also overlap because a client's clock counted less time than passed. Tokens can
// fail to grow because a node lost a counter, or because a clock was set.
func BlameAssumption(broken ...trace.Assumption) Blame {
	b := Blame{Kind: KindAssumption}
	for _, a := range broken {
		b.broken |= 1 << slices.Index(trace.Assumptions(), a)
	}
	return b
}

// Broken returns the assumptions that broke, in alphabetical order.
func (b Blame) Broken() []trace.Assumption {
	var all []trace.Assumption
	for i, a := range trace.Assumptions() {
		if b.broken&(1<<i) != 0 {
			all = append(all, a)
		}
	}
	slices.Sort(all)
	return all
}

// IsZero reports whether it is not known whose fault the violation is.
func (b Blame) IsZero() bool { return b == Blame{} }

// String returns the blame as documents write it: "lock", "inherent: needs fencing",
// "assumption: clock, lock memory", or "".
func (b Blame) String() string {
	if b.Kind != KindAssumption {
		return string(b.Kind)
	}
	words := make([]string, 0, 3)
	for _, a := range b.Broken() {
		words = append(words, string(a))
	}
	return string(KindAssumption) + ": " + strings.Join(words, ", ")
}

// MarshalText returns what String returns.
func (b Blame) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText parses what MarshalText returns.
func (b *Blame) UnmarshalText(text []byte) error {
	read := Blame{Kind: BlameKind(text)}
	if kind, assumptions, ok := strings.Cut(string(text), ": "); ok && BlameKind(kind) == KindAssumption {
		read = Blame{Kind: KindAssumption}
		for name := range strings.SplitSeq(assumptions, ", ") {
			if !slices.Contains(trace.Assumptions(), trace.Assumption(name)) {
				return fmt.Errorf("%q is not an assumption of a lock", name)
			}
			read.broken |= BlameAssumption(trace.Assumption(name)).broken
		}
	}
	switch read.Kind {
	case "", KindLock, KindInherent, KindAssumption:
	default:
		return fmt.Errorf("%q is not a blame: write lock, inherent: needs fencing, or assumption: and the broken assumptions", text)
	}
	*b = read
	return nil
}
