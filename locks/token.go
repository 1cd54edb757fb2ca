package locks

import (
	"context"
	"slices"
)

// A TokenSource mints the fencing tokens of grants whose lock has none of its
// own. The tokens of a good one grow from grant to grant, in the order in which
// the grants were made.
type TokenSource struct {
	// Name is what scenarios call it.
	Name string
	// Title is one line for people.
	Title string
	// Counts says that it counts on the nodes of Env.Counters, and needs at
	// least one.
	Counts bool
	// Several says that it counts on all of those nodes and not on the first.
	Several bool
	// Unordered tokens can only be told apart: that one is greater than another
	// means nothing.
	Unordered bool
	// OwnClock says that it reads Env.Clock: faults of the process's clock act on
	// it.
	OwnClock bool
	// System is the kind of server that it counts on.
	System string
	// Warm, if set, opens what Mint needs, before the story begins.
	Warm func(*Env)
	// Mint makes the token of a grant that the process has just got. It is never
	// 0. An error means that the process has no token.
	Mint func(context.Context, *Env) (uint64, error)
}

var tokenSources = map[string]TokenSource{}

// RegisterTokenSource adds a source. It is for package initialisation;
// registering one name twice panics, because one of the two would silently never
// run.
func RegisterTokenSource(s TokenSource) {
	if _, dup := tokenSources[s.Name]; dup {
		panic("locks: two token sources are called " + s.Name)
	}
	tokenSources[s.Name] = s
}

// LookupTokenSource finds a source by name.
func LookupTokenSource(name string) (TokenSource, bool) {
	s, ok := tokenSources[name]
	return s, ok
}

// TokenSourceNames lists the registered sources in alphabetical order.
func TokenSourceNames() []string {
	names := make([]string, 0, len(tokenSources))
	for name := range tokenSources {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// counterKey is where a node keeps the counter of a lock's tokens.
func counterKey(lock string) string { return lock + ":token" }
