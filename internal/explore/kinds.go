package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/sim"
)

// Kinds are the kinds of faults that a search tries: some only, or all but some. A name is
// that of a kind, such as crash, or of a kind in one manner, such as crash/failover. The
// zero Kinds are all.
type Kinds struct {
	Only   []string `json:"only,omitempty"`
	Except []string `json:"except,omitempty"`
}

// KindNames lists the names of the kinds that a search can try, and of their manners.
func KindNames() []string {
	var all []string
	for _, k := range sim.FaultKinds() {
		if len(k.Sites) == 0 {
			continue
		}
		all = append(all, k.Name)
		for _, m := range k.Manners {
			if m.Slug != "" {
				all = append(all, k.Name+"/"+m.Slug)
			}
		}
	}
	return all
}

// IsZero says that all kinds are tried.
func (k Kinds) IsZero() bool { return len(k.Only)+len(k.Except) == 0 }

// NewKinds makes kinds of lists of names, in whatever order and however often.
func NewKinds(only, except []string) Kinds {
	set := func(names []string) []string {
		return slices.Compact(slices.Sorted(slices.Values(names)))
	}
	return Kinds{Only: set(only), Except: set(except)}
}

// Equal says whether two kinds are the same.
func (k Kinds) Equal(o Kinds) bool {
	return slices.Equal(k.Only, o.Only) && slices.Equal(k.Except, o.Except)
}

// Check refuses a name that no kind has, and kinds of which nothing is left to try.
func (k Kinds) Check() error {
	for _, name := range slices.Concat(k.Only, k.Except) {
		if !slices.Contains(KindNames(), name) {
			return fmt.Errorf("there is no kind of fault %q to try; there are %s", name, strings.Join(KindNames(), ", "))
		}
	}
	if !slices.ContainsFunc(sim.FaultKinds(), func(kind sim.FaultKind) bool { return k.Tries(kind.Name) }) {
		return fmt.Errorf("%s is nothing to try", k)
	}
	return nil
}

// Tries says whether some manner of a kind is tried.
func (k Kinds) Tries(name string) bool {
	return slices.ContainsFunc(sim.FaultKinds(), func(kind sim.FaultKind) bool {
		return kind.Name == name && slices.ContainsFunc(kind.Manners, func(m sim.Manner) bool { return k.tries(kind, m) })
	})
}

// tries says whether a kind is tried in a manner.
func (k Kinds) tries(kind sim.FaultKind, m sim.Manner) bool {
	named := func(list []string) bool {
		return slices.Contains(list, kind.Name) || m.Slug != "" && slices.Contains(list, kind.Name+"/"+m.Slug)
	}
	return (len(k.Only) == 0 || named(k.Only)) && !named(k.Except)
}

// String is the kinds in words.
func (k Kinds) String() string { return story.Kinds(k.Only, k.Except) }
