// Package mutants holds locks that are wrong on purpose, to show that package
// locktest catches what it claims to catch.
//
// There are two sound locks, one that asks a quorum and one on a single node. A
// mutant is one of them with one small mistake, which the lock makes in exactly
// one place. For each there is the rule by which the suite must catch it; that it
// does is the test of this package.
package mutants

import (
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// A Mutant is a lock with one mistake.
type Mutant struct {
	// Name is the mistake in a few words.
	Name string
	// Wrong is one line that says what the lock does.
	Wrong string
	// Config is what the lock claims.
	Config locktest.Config
	// Rule is what a failing test must say of it: a property of package checks, or
	// another of the rules of package locktest.
	Rule string
	// New makes the lock.
	New locktest.New
}

// A mistake is something that a lock gets wrong. The empty mistake is none.
type mistake string

// makes is embedded in the locks.
type makes struct{ mistake }

func (m makes) wrong(about mistake) bool { return m.mistake == about }

// asQuorum and asSingle are what the two locks claim.
var (
	asQuorum = locktest.Config{Nodes: 5, Extends: true, OwnClock: true}
	asSingle = locktest.Config{Extends: true, Notifies: true, Tokens: true, OwnClock: true}
)

// Sound lists the locks that are right, by what they claim.
func Sound() []Mutant {
	return []Mutant{
		onQuorum("", "a lock on a quorum of nodes, without a mistake", ""),
		onSingle("", "a lock on a single node, without a mistake", ""),
	}
}

func onQuorum(m mistake, wrong, rule string) Mutant {
	return Mutant{Name: "quorum" + dash(m), Wrong: wrong, Config: asQuorum, Rule: rule,
		New: func(env *locktest.Env) (locks.Lock, error) { return newQuorum(env, makes{m}), nil }}
}

func onSingle(m mistake, wrong, rule string) Mutant {
	return Mutant{Name: "single" + dash(m), Wrong: wrong, Config: asSingle, Rule: rule,
		New: func(env *locktest.Env) (locks.Lock, error) { return newSingle(env, makes{m}), nil }}
}

func dash(m mistake) string {
	if m == "" {
		return ""
	}
	return "/" + string(m)
}
