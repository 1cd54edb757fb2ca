package locks

import (
	"context"
	"slices"
)

// A TokenSource makes the fencing tokens of grants whose lock has no tokens of its own. The
// tokens of a good source grow from grant to grant, in the order of the grants.
type TokenSource struct {
	// Name is the name in scenarios.
	Name string
	// Title is one line for people.
	Title string
	// Counts reports that the source keeps its counter on nodes of Env.Counters; there must
	// be at least one such node.
	Counts bool
	// CountsOnAll reports that the source keeps a counter on each of those nodes, and not
	// only on the first.
	CountsOnAll bool
	// Unordered reports that tokens can only be compared for equality: a greater token is
	// not a later one.
	Unordered bool
	// OwnClock reports that the source reads Env.Clock: faults of the process's clock can
	// change its tokens.
	OwnClock bool
	// System is the kind of server that keeps the source's counter; "" means none.
	System string
	// Warm, if not nil, opens the connections that Mint needs, before the run begins.
	Warm func(*Env)
	// Mint makes the token for a grant that the process has just received. A token is never
	// 0. If Mint returns an error, the grant has no token.
	Mint func(context.Context, *Env) (uint64, error)
}

var tokenSources = map[string]TokenSource{}

// registerTokenSource adds a source. It must be called only while packages are initialised.
// It panics if two sources have the same name, because one of them would silently never be
// used.
func registerTokenSource(s TokenSource) {
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

// counterKey returns the key of a lock's token counter on a node.
func counterKey(lock string) string { return lock + ":token" }
