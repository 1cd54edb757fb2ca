// Package mutants holds locks that are wrong on purpose, to show that package
// locktest catches what it claims to catch. The tests of that package take their
// broken locks from here too, so this one must not import it.
//
// There are three sound locks: one that asks a quorum, one on a single node, and one on a
// single node that tries again and renews itself. A
// mutant is one of them with one small mistake, which the lock makes in exactly
// one place, or Redlock of package locks without one of its features. For each
// there is the rule by which the suite must catch it; that it does is the test of
// this package.
//
// To add a mistake, look first whether it is what Redlock does without a feature: then
// a line in the list of quorum.go is all. If it is not, name it in quorum.go,
// single.go or renewing.go, write a line for it in the list below the names, and have the lock make
// it.
package mutants

import (
	"slices"
	"time"

	"github.com/locksim/locksim/locks"
)

// A Mutant is a lock with one mistake.
type Mutant struct {
	// Name is the mistake in a few words.
	Name string
	// Wrong is one line that says what the lock does.
	Wrong string
	// Nodes is how many Redis nodes it claims to need: 1, or 5 for a lock that asks a
	// quorum of however many there are.
	Nodes int
	// Notifies and Tokens claim that its leases tell of their loss, and that they have
	// fencing tokens. All can be prolonged unless Renews, and read no clock but the process's.
	Notifies, Tokens bool
	// Renews says that its leases prolong themselves, and cannot be asked to.
	Renews bool
	// Rule is what a failing test must say of it: a property of package checks, or
	// another of the rules of package locktest.
	Rule string
	// New makes the lock.
	New func(*locks.Env) (locks.Lock, error)
}

// A mistake is something that a lock gets wrong. The empty mistake is none.
type mistake string

// makes is embedded in the locks.
type makes struct{ mistake }

func (m makes) wrong(about mistake) bool { return m.mistake == about }

// Sound lists the locks that are right.
func Sound() []Mutant {
	return []Mutant{
		onQuorum("", "a lock on a quorum of nodes, without a mistake", ""),
		onSingle("", "a lock on a single node, without a mistake", ""),
		onRenewing("", "a lock on a single node that renews itself, without a mistake", ""),
	}
}

// Mutants lists the locks that are wrong, and are found out by the suite and by an
// exploration of single faults.
func Mutants() []Mutant {
	return slices.Concat(quorumMutants(), singleMutants(), renewingMutants(), leftoverMutants())
}

// Elusive lists those that the suite alone finds out: a single fault does not show them, or
// does so once in ten thousand worlds.
func Elusive() []Mutant {
	return append(leftoverElusive(), []Mutant{
		// A search has every fault end. What it finds is a node that loses its power between a
		// request and its reply, without a word to whoever waits for that.
		onRedlock("no-node-timeout", "node-timeout", "a node is waited for until it answers, however short the TTL", "progress"),
		// A search has a TTL of ten seconds.
		onRenewing(wholeSeconds, "the TTL is rounded down to whole seconds, and none at all is no expiry", "lease-exclusion"),
		onRenewing(renewsWholeSeconds, "a renewal rounds the TTL down to whole seconds", "lease-exclusion"),
		onPatient("waits-beyond-ttl", 1.5, "a node is waited for for longer than the TTL", "progress"),
		onPatient("waits-half-ttl", 0.5, "a node is waited for for half of the TTL, so that two that are silent use up the lease", "progress"),
		// A reply is late, and its holder works for longer than its key stands.
		onSingle(leaseFromSecondTry, "the lease counts from a second try, which meets the key that the first has set", "lease-exclusion"),
	}...)
}

// Lookup finds a lock by its name, a sound one too.
func Lookup(name string) (Mutant, bool) {
	all := slices.Concat(Sound(), Mutants(), Elusive())
	i := slices.IndexFunc(all, func(m Mutant) bool { return m.Name == name })
	if i < 0 {
		return Mutant{}, false
	}
	return all[i], true
}

func onQuorum(m mistake, wrong, rule string) Mutant {
	return Mutant{Name: "quorum" + dash(m), Wrong: wrong, Nodes: 5, Rule: rule,
		New: func(env *locks.Env) (locks.Lock, error) { return newQuorum(env, makes{m}), nil }}
}

func onSingle(m mistake, wrong, rule string) Mutant {
	return Mutant{Name: "single" + dash(m), Wrong: wrong, Nodes: 1, Notifies: true, Tokens: true, Rule: rule,
		New: func(env *locks.Env) (locks.Lock, error) { return newSingle(env, makes{m}), nil }}
}

// onRedlock is a mutant that does without a feature of Redlock.
func onRedlock(m mistake, feature, wrong, rule string) Mutant {
	mutant := onQuorum(m, wrong, rule)
	mutant.New = func(env *locks.Env) (locks.Lock, error) {
		k, _ := locks.Lookup("redlock")
		env.Options.Without = []string{feature}
		if err := k.Check(env.Options); err != nil {
			return nil, err
		}
		return k.New(env)
	}
	return mutant
}

// onPatient is Redlock that waits for each node for some TTLs.
func onPatient(m mistake, ttls float64, wrong, rule string) Mutant {
	mutant := onQuorum(m, wrong, rule)
	mutant.New = func(env *locks.Env) (locks.Lock, error) {
		k, _ := locks.Lookup("redlock")
		env.Options.NodeTimeout = time.Duration(ttls * float64(env.TTL))
		return k.New(env)
	}
	return mutant
}

func dash(m mistake) string {
	if m == "" {
		return ""
	}
	return "/" + string(m)
}
