package scenarios

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// SelectApplicable returns the scenario with only the variants that apply to the lock that
// the options name, or nil if none does. It runs nothing. Each error says why a variant is
// left out, and which built-in scenario is nearest to it among those that apply.
func (s *Scenario) SelectApplicable(o RunOptions) (applicable *Scenario, leftOut []error) {
	kept := *s
	kept.Variants = nil
	for _, v := range s.Variants {
		why := cmp.Or(v.whyNotApplicable(o.forFencing(Off)), v.whyNotApplicable(o.forFencing(On)))
		if why == "" {
			kept.Variants = append(kept.Variants, v)
			continue
		}
		name := cmp.Or(s.File, s.Name)
		if v.Name != "" {
			name += ", variant " + v.Name
		}
		if near := v.nearest(o); near != "" && o.Lock != "" {
			why += "; the nearest scenario that applies to this lock is " + near
		}
		leftOut = append(leftOut, fmt.Errorf("%s: %s", name, why))
	}
	switch len(kept.Variants) {
	case 0:
		return nil, leftOut
	case len(s.Variants):
		return s, nil
	}
	return &kept, leftOut
}

// nearest returns the name of a built-in scenario that applies to the lock of the options: the one
// that has the most in common with the variant. It returns "" if none has a fault or the broken
// assumption in common with the variant. Among equally near scenarios it prefers those that expect
// something of the lock, and then the first in the catalogue.
func (v *Variant) nearest(o RunOptions) string {
	kind, ok := locks.Lookup(cmp.Or(o.Kind.Name, o.Lock, v.Lock))
	if !ok {
		return ""
	}
	type candidate struct {
		variant *Variant
		score   int
	}
	var all []candidate
	for _, group := range Catalogue() {
		for _, s := range group.Scenarios {
			for _, other := range s.Variants {
				own, _ := locks.Lookup(other.Lock)
				isAbout := slices.Contains(other.Locks(), kind.Name)
				if other.Scenario == v.Scenario || !isAbout && own.System != kind.System {
					continue
				}
				score := v.countCommon(other)
				if score > 0 && isAbout {
					score++
				}
				all = append(all, candidate{other, score})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return b.score - a.score })
	for _, c := range all {
		if c.score == 0 {
			break
		}
		if cmp.Or(c.variant.whyNotApplicable(o.forFencing(Off)), c.variant.whyNotApplicable(o.forFencing(On))) != "" {
			continue
		}
		if c.variant.Name == "" {
			return c.variant.Scenario
		}
		return c.variant.Scenario + ", variant " + c.variant.Name
	}
	return ""
}

// countCommon returns a number that is greater the more two variants have in common: the assumption
// that breaks, and the faults. A fault that only one of them has makes the number smaller. The
// number is 0 if they have no fault in common and do not break the same assumption.
func (v *Variant) countCommon(o *Variant) int {
	own, others := v.faultSigns(), o.faultSigns()
	common := 0
	for _, sign := range own {
		if slices.Contains(others, sign) {
			common++
		}
	}
	isSame := v.Assumption == o.Assumption && v.Assumption != "none"
	if common == 0 && !isSame {
		return 0
	}
	score := 100 + 10*(2*common-(len(own)-common)-(len(others)-common))
	if isSame {
		score += 15
	}
	return max(score, 1)
}

// faultSigns lists what the variant's faults do, each once: the kind of a fault, and the
// role of the process that it strikes.
func (v *Variant) faultSigns() []string {
	var signs []string
	people := v.spec.collectParticipants()
	for _, f := range v.spec.faults() {
		sign := f.Kind() + " " + faultRole(f, people)
		if !slices.Contains(signs, sign) {
			signs = append(signs, sign)
		}
	}
	return signs
}

// faultRole returns the role of the process that a fault strikes, or for a message that of
// the process to which it goes or from which it comes.
func faultRole(f sim.Fault, people participants) string {
	name := f.Target()
	if m, ok := f.Message(); ok {
		name = m.Peer
	}
	role, _ := people.role(name)
	if role == "" {
		role = trace.RoleNode
	}
	return string(role)
}
