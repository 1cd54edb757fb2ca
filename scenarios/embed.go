package scenarios

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"

	_ "github.com/locksim/locksim/servers/redis" // the server on which most embedded scenarios run
)

//go:embed *.yaml
var files embed.FS

//go:embed schema.json
var schemaFile string

// Schema returns the JSON Schema of scenario files.
func Schema() string { return schemaFile }

// Names returns the names of the embedded scenarios in alphabetical order.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // impossible: the folder is part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	slices.Sort(names) // the folder lists "a-b.yaml" before "a.yaml"
	return names
}

// Open returns an embedded scenario. If the name is not known, the error suggests the name
// that was probably meant.
func Open(name string) (*Scenario, error) {
	data, err := files.ReadFile(name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("no scenario is called %s; %s", quote(name), cmp.Or(DidYouMean(name, Names()), "`locksim list` shows the built-in scenarios"))
	}
	return Parse("scenarios/"+name+".yaml", data)
}

// BuiltIn reports whether the text of a scenario is that of the embedded scenario of its
// name, even if it was read from elsewhere.
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
			panic(err) // impossible: a test parses every embedded file
		}
		all = append(all, s)
	}
	return all
}
