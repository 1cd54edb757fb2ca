// Package mutants holds locks that are wrong on purpose, to show that package locktest
// catches what it claims to catch. The tests of that package also take their broken locks
// from here, so this package must not import it.
//
// There are four correct locks: one that asks a quorum, and three on a single node. Two of these
// three notify their holder when the lock is lost; one of the two also renews its leases by itself,
// and repeats a request that got no answer. The release of the third reports whether the lock was
// lost. A mutant is one of the four locks with one small mistake, which its code makes in exactly
// one place. Some mutants are Redlock of package locks without one of its features. Each mutant
// names the rule by which the suite must catch it, and the tests of this package check that the
// suite does.
//
// To add a mistake, look first whether a lock with it equals Redlock without a feature: then one
// line in the list of quorum.go is enough. Otherwise, name it in the file of its lock, such as
// quorum.go or foreign.go, add a line for it to the list below the names, and make the lock do it.
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
	// Description is one line that says what the lock does wrong.
	Description string
	// Nodes is how many Redis nodes the lock claims to need: 1, or 5 for a lock that can ask a
	// quorum of any number of nodes.
	Nodes int
	// Notifies claims that a lease notifies its holder of its loss, and Tokens that each
	// grant has a fencing token. Each lock also claims, unless it Renews, that its leases can be
	// extended. Each but the plain one claims that it reads no clock but its process's.
	Notifies, Tokens bool
	// ReportsLoss claims that a release reports whether the lock was lost.
	ReportsLoss bool
	// Renews means that the lock renews its leases by itself. A caller cannot extend them.
	Renews bool
	// Rule is the rule whose violation the suite must report of the lock: a property of package
	// checks, or another rule of package locktest.
	Rule string
	// New makes the lock.
	New func(*locks.Env) (locks.Lock, error)
}

// A mistake is the name of something that a lock gets wrong; "" is no mistake.
type mistake string

// A maker holds the mistake of a lock. The locks embed it, and ask it where they would make
// the mistake.
type maker struct{ mistake }

// hasMistake reports whether the lock makes the mistake about.
func (m maker) hasMistake(about mistake) bool { return m.mistake == about }

// Sound lists the locks without a mistake.
func Sound() []Mutant {
	return []Mutant{
		onQuorum("", "a lock on a quorum of nodes, without a mistake", ""),
		onSingle("", "a lock on a single node, without a mistake", ""),
		onRenewing("", "a lock on a single node that renews itself, without a mistake", ""),
		onPlain("", "a lock on a single node whose release reports a loss, without a mistake", ""),
	}
}

// Mutants lists the locks with a mistake that two kinds of tests detect: the suite of locktest.Run,
// and an exploration, in which locktest.Explore tries single faults.
func Mutants() []Mutant {
	return slices.Concat(quorumMutants(), singleMutants(), renewingMutants(), leftoverMutants())
}

// Elusive lists the locks with a mistake that only the suite detects. A single fault of an
// exploration does not show it, or only in one of ten thousand worlds.
func Elusive() []Mutant {
	return append(slices.Concat(elusiveLeftovers(), foreignMutants()), []Mutant{
		// An exploration does not check that a lock renews its leases.
		onRenewing(renewsNothing, "a renewal sends nothing, and the holder is notified when the lease ends", "claim: notifies"),
		// In an exploration, every fault ends, so a request is nearly always answered. The
		// only exception is a node that loses its power between a request and its reply:
		// the waiting client does not notice it.
		onRedlock("no-node-timeout", "node-timeout", "the lock waits for a node until it answers, however short the TTL", "progress"),
		// The TTL of an exploration is ten seconds, which rounding does not change.
		onRenewing(wholeSeconds, "the TTL is rounded down to whole seconds, and a TTL of 0 s means no expiry", "lease-exclusion"),
		onRenewing(renewsWholeSeconds, "a renewal rounds the TTL down to whole seconds", "lease-exclusion"),
		onPatient("waits-beyond-ttl", 1.5, "the lock waits for a node for longer than the TTL", "progress"),
		onPatient("waits-half-ttl", 0.5, "the lock waits for a node for half of the TTL, so two silent nodes use up the lease", "progress"),
		// This takes a holder whose lease expires, and two clients that wait for it.
		onSingle(takesExpiredInSteps, "a client that has waited until the key has expired looks whether it is gone, and then sets it without a condition", "lease-exclusion"),
		// The keys stay on the nodes that are not asked, until they expire. With three nodes and a
		// single fault, all that shows is a client that waits until then.
		onQuorum(removeStopsAtError, "release, and the clean-up of a failed attempt, ask no more nodes after one that gives no answer", "progress"),
		// This takes a late reply and, at the same time, a holder that works for longer
		// than its key lasts.
		onSingle(leaseFromSecondTry, "the lease counts from a second try, which finds the key that the first try has set", "lease-exclusion"),
	}...)
}

// Lookup returns the lock called name, among those with a mistake and those without, and
// whether there is one.
func Lookup(name string) (Mutant, bool) {
	all := slices.Concat(Sound(), Mutants(), Elusive())
	i := slices.IndexFunc(all, func(m Mutant) bool { return m.Name == name })
	if i < 0 {
		return Mutant{}, false
	}
	return all[i], true
}

// onQuorum returns the lock on a quorum with the mistake m.
func onQuorum(m mistake, description, rule string) Mutant {
	return Mutant{Name: "quorum" + nameSuffix(m), Description: description, Nodes: 5, Rule: rule,
		New: func(env *locks.Env) (locks.Lock, error) { return newQuorum(env, maker{m}), nil }}
}

// onSingle returns the lock on a single node with the mistake m.
func onSingle(m mistake, description, rule string) Mutant {
	return Mutant{Name: "single" + nameSuffix(m), Description: description, Nodes: 1, Notifies: true, Tokens: true, Rule: rule,
		New: func(env *locks.Env) (locks.Lock, error) { return newSingle(env, maker{m}), nil }}
}

// onRedlock returns a mutant that is Redlock without one of its features.
func onRedlock(m mistake, feature, description, rule string) Mutant {
	mutant := onQuorum(m, description, rule)
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

// onPatient returns a mutant that is Redlock, and whose timeout for a request to a node is too
// long: timeoutTTLs, in TTLs.
func onPatient(m mistake, timeoutTTLs float64, description, rule string) Mutant {
	mutant := onQuorum(m, description, rule)
	mutant.New = func(env *locks.Env) (locks.Lock, error) {
		k, _ := locks.Lookup("redlock")
		env.Options.NodeTimeout = time.Duration(timeoutTTLs * float64(env.TTL))
		return k.New(env)
	}
	return mutant
}

// nameSuffix returns the mistake as the last part of a mutant's name.
func nameSuffix(m mistake) string {
	if m == "" {
		return ""
	}
	return "/" + string(m)
}
