package scenarios

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/trace"
)

// FaultKinds lists the kinds of faults that occur in the variant, each once, in the order
// of the file.
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

// Starts returns the point at which a client starts; the zero Point means the start of the
// run.
func (v *Variant) Starts(client string) trace.Point {
	c, _ := v.spec.Clients.get(client)
	return c.Starts
}

// WorksUntil returns the point until which a client works at least; the zero Point if there is none.
func (v *Variant) WorksUntil(client string) trace.Point {
	c, _ := v.spec.Clients.get(client)
	return c.WorksUntil
}

// Locks returns the kinds of locks for which the scenario has an expectation: its own
// first, then the others.
func (v *Variant) Locks() []string {
	return append([]string{v.Lock}, v.spec.ExpectWith.names()...)
}

// Violates returns the properties that the variant expects its own lock to violate, without
// fencing or with it, in the order of checks.Properties.
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

// SelectVariant returns the scenario with only one of its variants. If it has no variant of
// that name, the error suggests the name that was probably meant.
func (s *Scenario) SelectVariant(variant string) (*Scenario, error) {
	var names []string
	for _, v := range s.Variants {
		if v.Name == variant {
			selected := *s
			selected.Variants = []*Variant{v}
			return &selected, nil
		}
		if v.Name != "" {
			names = append(names, v.Name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no variants", s.Name)
	}
	return nil, fmt.Errorf("%s has no variant %s; %s", s.Name, quote(variant), cmp.Or(DidYouMean(variant, names), "it has too many to list"))
}
