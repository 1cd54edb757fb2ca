package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/trace"
)

// A Blame says whose fault a violation is. The zero Blame is nobody's that can be told.
// Blames can be compared with ==.
type Blame struct {
	Whose Whose
	// broken are the assumptions that broke, as bits.
	broken uint8
}

// Whose says who is to blame for a violation.
type Whose string

const (
	ByLock       Whose = "lock"
	ByNature     Whose = "inherent: needs fencing"
	ByAssumption Whose = "assumption"
)

var (
	// FaultLock is a violation with which everything had done what the lock
	// relies on: two overlapping leases while a quorum of nodes kept its keys for their
	// TTL of true time and both clients' clocks kept time, a client that was let
	// in though no node had granted it, a grant whose lease had ended before
	// acquire returned, an extension that had ended before extend returned, a holder
	// that would have heeded the signal of its loss and was told too late, a key
	// taken from another acquisition, no progress while nothing was missing that the
	// lock needs (see [history.History.Provided]).
	FaultLock = Blame{Whose: ByLock}
	// FaultInherent is two sections that overlap although their leases do not, and
	// whose lock owed nobody a signal. No lock whose grants end by time can avoid it.
	FaultInherent = Blame{Whose: ByNature}
)

// FaultAssumption is a violation because assumptions broke: two leases
// overlap because a node lost a key or let it end too early, or so many did that
// the others are no quorum, or because a client's clock did not count the time that
// passed; tokens do not grow because a node lost a counter, or a clock was set.
func FaultAssumption(broken ...trace.Assumption) Blame {
	b := Blame{Whose: ByAssumption}
	for _, a := range broken {
		b.broken |= 1 << slices.Index(trace.Assumptions(), a)
	}
	return b
}

// Broken are the assumptions that broke, in the order of the alphabet.
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

// IsZero says that nobody is to blame who can be told.
func (b Blame) IsZero() bool { return b == Blame{} }

// String is the blame as documents have it: "lock", "inherent: needs fencing",
// "assumption: clock, lock memory", or "".
func (b Blame) String() string {
	if b.Whose != ByAssumption {
		return string(b.Whose)
	}
	words := make([]string, 0, 3)
	for _, a := range b.Broken() {
		words = append(words, string(a))
	}
	return string(ByAssumption) + ": " + strings.Join(words, ", ")
}

// MarshalText writes the blame as documents have it.
func (b Blame) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads what MarshalText has written.
func (b *Blame) UnmarshalText(text []byte) error {
	read := Blame{Whose: Whose(text)}
	if whose, assumptions, ok := strings.Cut(string(text), ": "); ok && Whose(whose) == ByAssumption {
		read = Blame{Whose: ByAssumption}
		for name := range strings.SplitSeq(assumptions, ", ") {
			if !slices.Contains(trace.Assumptions(), trace.Assumption(name)) {
				return fmt.Errorf("%q is no assumption of a lock", name)
			}
			read.broken |= FaultAssumption(trace.Assumption(name)).broken
		}
	}
	switch read.Whose {
	case "", ByLock, ByNature, ByAssumption:
	default:
		return fmt.Errorf("%q says of nobody whose fault something is", text)
	}
	*b = read
	return nil
}
