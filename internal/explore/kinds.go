package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/sim"
)

// Kinds select the kinds of faults that a search tries: only some, or all except some. Each
// entry of Only and Except is the name of a kind, such as crash, or of a kind in one manner,
// such as crash/failover. The zero Kinds select all.
type Kinds struct {
	Only   []string `json:"only,omitempty"`
	Except []string `json:"except,omitempty"`
}

// KindNames lists the kinds that a search can try, and their manners.
func KindNames() []string {
	var all []string
	for _, k := range sim.FaultKinds() {
		if len(k.Sites) == 0 { // no search tries this kind
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

// IsZero reports whether all kinds are tried.
func (k Kinds) IsZero() bool { return len(k.Only)+len(k.Except) == 0 }

// NewKinds makes Kinds from lists of names, in any order and with any repetitions.
func NewKinds(only, except []string) Kinds {
	set := func(names []string) []string {
		return slices.Compact(slices.Sorted(slices.Values(names)))
	}
	return Kinds{Only: set(only), Except: set(except)}
}

// Equal reports whether two Kinds are the same.
func (k Kinds) Equal(o Kinds) bool {
	return slices.Equal(k.Only, o.Only) && slices.Equal(k.Except, o.Except)
}

// Check returns an error if a name is not the name of a kind, or if no kind is left to try.
func (k Kinds) Check() error {
	for _, name := range slices.Concat(k.Only, k.Except) {
		if !slices.Contains(KindNames(), name) {
			return fmt.Errorf("there is no kind of fault %q; the kinds are %s", name, strings.Join(KindNames(), ", "))
		}
	}
	if !slices.ContainsFunc(sim.FaultKinds(), func(kind sim.FaultKind) bool { return k.Tries(kind.Name) }) {
		return fmt.Errorf("%s: no kind of fault is left to try", k)
	}
	return nil
}

// Tries reports whether a kind is tried in at least one manner.
func (k Kinds) Tries(name string) bool {
	return slices.ContainsFunc(sim.FaultKinds(), func(kind sim.FaultKind) bool {
		return kind.Name == name && slices.ContainsFunc(kind.Manners, func(m sim.Manner) bool { return k.tries(kind, m) })
	})
}

// tries reports whether a kind is tried in the manner m.
func (k Kinds) tries(kind sim.FaultKind, m sim.Manner) bool {
	named := func(list []string) bool {
		return slices.Contains(list, kind.Name) || m.Slug != "" && slices.Contains(list, kind.Name+"/"+m.Slug)
	}
	return (len(k.Only) == 0 || named(k.Only)) && !named(k.Except)
}

// String describes the kinds in words.
func (k Kinds) String() string { return story.DescribeKinds(k.Only, k.Except) }
