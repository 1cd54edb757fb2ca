package scenarios

import (
	"cmp"
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/locksim/locksim/locks"
	_ "github.com/locksim/locksim/servers/redis" // the server of the built-in stories
	"github.com/locksim/locksim/sim"
)

//go:embed *.yaml
var files embed.FS

// ownLock finds the lock in the text of an embedded scenario: what the program lacks, it
// cannot parse.
var ownLock = regexp.MustCompile(`(?m)^lock: \{kind: ([a-z-]+)`)

// playable says whether the program has the servers of an embedded scenario. Some are
// modules of their own, so that nobody has them in their build who does not want them.
func playable(file string) bool {
	data, err := files.ReadFile(file)
	if err != nil {
		panic(err) // the folder is part of the program
	}
	if lock := ownLock.FindSubmatch(data); lock != nil {
		if kind, ok := locks.Lookup(string(lock[1])); ok && kind.System != "" {
			_, has := sim.LookupSystem(kind.System)
			return has
		}
	}
	return true
}

// Names lists the embedded scenarios of which the program has the servers, in alphabetical
// order.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	var names []string
	for _, e := range entries {
		if playable(e.Name()) {
			names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
		}
	}
	slices.Sort(names) // the folder has "a-b.yaml" before "a.yaml"
	return names
}

// Open returns an embedded scenario. The error of a name that is not known says
// which was probably meant.
func Open(name string) (*Scenario, error) {
	data, err := files.ReadFile(name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("no scenario is called %s; %s", quoted(name), cmp.Or(DidYouMean(name, Names()), "Names lists those that are embedded"))
	}
	return Parse("scenarios/"+name+".yaml", data)
}

// BuiltIn says whether a scenario is one that is embedded, word for word, wherever it was
// read.
func (s *Scenario) BuiltIn() bool {
	data, err := files.ReadFile(s.Name + ".yaml")
	return err == nil && s.Text == string(data)
}

// Embedded returns all embedded scenarios in the order of [Names].
func Embedded() []*Scenario {
	var all []*Scenario
	for _, name := range Names() {
		s, err := Open(name)
		if err != nil {
			panic(err) // a test has parsed every file that is embedded
		}
		all = append(all, s)
	}
	return all
}
