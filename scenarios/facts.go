package scenarios

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/trace"
)

// FaultKinds lists the kinds of faults that the variant contains, each once, in
// the order of the file.
func (v *Variant) FaultKinds() []string {
	var kinds []string
	for _, f := range v.spec.Faults {
		if !slices.Contains(kinds, f.kind.Name) {
			kinds = append(kinds, f.kind.Name)
		}
	}
	return kinds
}

// Clients lists the names of the clients, in the order of the file.
func (v *Variant) Clients() []string { return v.spec.Clients.names() }

// Starts is the point at which a client begins; none is the start of the run.
func (v *Variant) Starts(client string) trace.Point {
	c, _ := v.spec.Clients.get(client)
	return c.Starts
}

// Locks lists the kinds of locks that the story is told with: its own, then
// those of which it says what to expect.
func (v *Variant) Locks() []string {
	return append([]string{v.Lock}, v.spec.ExpectWith.names()...)
}

// Violates lists the properties that the variant expects its own lock to
// violate, without fencing or with it, in the order of checks.Properties.
func (v *Variant) Violates() []checks.Property {
	return slices.DeleteFunc(checks.Properties(), func(p checks.Property) bool {
		for _, fencing := range []string{Off, On} {
			if e, ok := v.Expectation("", fencing); ok && slices.Contains(e.Violated, p) {
				return false
			}
		}
		return true
	})
}

// Only is the scenario with one of its variants. The error of a name that is
// not known says which was probably meant.
func (s *Scenario) Only(variant string) (*Scenario, error) {
	var names []string
	for _, v := range s.Variants {
		if v.Name == variant {
			only := *s
			only.Variants = []*Variant{v}
			return &only, nil
		}
		if v.Name != "" {
			names = append(names, v.Name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no variants", s.Name)
	}
	return nil, fmt.Errorf("%s has no variant %s; %s", s.Name, quoted(variant), cmp.Or(DidYouMean(variant, names), "it has too many to list"))
}
