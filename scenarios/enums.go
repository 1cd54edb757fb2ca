package scenarios

import (
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
)

// An enum is the type of a field that has a fixed list of values. The parser and the JSON
// Schema take the values from the method words.
type enum interface{ words() []string }

type (
	group       string
	assumption  string
	lockKind    string
	ask         string
	clock       string
	feature     string
	persistence string
	ifNoAnswer  string
	ifRefused   string
	fallback    string
	retry       string
	tokenSource string
	runTwice    string
	fencing     string
	place       string
	clientOf    string
	verdict     string
	measure     string
	property    string
)

func (group) words() []string {
	return []string{"debate", "systems", "etcd", "zookeeper", "consul", "postgres", "sqlite", "kubernetes", "patterns", "single-instance", "fencing", "questions", "libraries", "examples"}
}

func (assumption) words() []string {
	return []string{"process", "network", "clock", "storage memory", "lock memory", "none"}
}

func (lockKind) words() []string { return locks.Names() }

func (ask) words() []string { return toStrings(locks.OneByOne, locks.AllAtOnce) }

func (clock) words() []string { return toStrings(fakeclock.Wall, fakeclock.Monotonic) }

// words returns the features of all locks. A later check reports a feature that the
// scenario's lock does not have.
func (feature) words() []string {
	var all []string
	for _, name := range locks.Names() {
		kind, _ := locks.Lookup(name)
		all = append(all, kind.Features...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// words returns the persistences of all systems. A later check reports one that the node
// cannot have.
func (persistence) words() []string {
	var all []string
	for _, s := range sim.Systems() {
		for _, p := range s.Persistences() {
			if !slices.Contains(all, string(p)) {
				all = append(all, string(p))
			}
		}
	}
	return all
}

func (ifNoAnswer) words() []string { return []string{"resends"} }

func (ifRefused) words() []string { return []string{"starts-over"} }

func (fallback) words() []string { return toStrings(locks.Refuse, locks.GoAhead, locks.Local) }

func (retry) words() []string { return toStrings(locks.Retries()...) }

func (runTwice) words() []string { return []string{"harmless"} }

func (tokenSource) words() []string { return locks.TokenSourceNames() }

// words returns all policies except storage.None, which only the run without fencing uses.
func (fencing) words() []string {
	return toStrings(slices.DeleteFunc(storage.Policies(), func(p storage.Policy) bool { return p == storage.None })...)
}

func (place) words() []string { return []string{"cluster"} }

func (clientOf) words() []string { return []string{"own"} }

func (verdict) words() []string { return []string{checks.Safe, checks.Unsafe} }

func (measure) words() []string { return checks.MeasureNames() }

func (property) words() []string { return toStrings(checks.Properties()...) }

func toStrings[S ~string](values ...S) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}
