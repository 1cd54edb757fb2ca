package proof

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trackrecord"
)

// A Bug is one bug of the track record: its story, which is a scenario that shows the bug, and the
// versions of the library to test with the story.
type Bug struct {
	Name  string
	Story *scenarios.Scenario
	// Library is the Go module under test. Test is the package in the folder libraries that
	// tests it.
	Library, Test string
	// Versions are in alphabetical order.
	Versions []Version
}

// A Version is a version of a library under test, possibly with one of its options.
type Version struct {
	// Name begins with "bad" if the version has the bug.
	Name string
	// Number is the version of the Go module, such as v4.0.3.
	Number string
	// Option is the name of an [Option] with which the lock is made; "" if there is none.
	Option string
}

// Bad reports whether the version has the bug.
func (v Version) Bad() bool { return strings.HasPrefix(v.Name, "bad") }

// Bugs reads the bugs of the track record, in alphabetical order.
func Bugs() ([]Bug, error) {
	stories, err := fs.Glob(trackrecord.Bugs, "*/story.yaml")
	if err != nil {
		return nil, err
	}
	var all []Bug
	for _, file := range stories {
		b, err := readBug(path.Dir(file))
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// readBug reads the bug in the folder with the given name.
func readBug(name string) (Bug, error) {
	b := Bug{Name: name}
	file := path.Join(name, "story.yaml")
	data, err := trackrecord.Bugs.ReadFile(file)
	if err != nil {
		return b, err
	}
	if b.Story, err = scenarios.Parse(file, data); err != nil {
		return b, err
	}
	file = path.Join(name, "versions.json")
	if data, err = trackrecord.Bugs.ReadFile(file); err != nil {
		return b, err
	}
	if err := b.readVersions(data); err != nil {
		return b, fmt.Errorf("%s: %w", file, err)
	}
	return b, nil
}

// exactVersion matches a version that always means the same code. It does not match names
// such as latest.
var exactVersion = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+[-+.0-9A-Za-z]*$`)

// readVersions reads the text of versions.json.
func (b *Bug) readVersions(data []byte) error {
	var file struct {
		Library  string            `json:"library"`
		Test     string            `json:"test"`
		Versions map[string]string `json:"versions"`
	}
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	if err := in.Decode(&file); err != nil {
		return err
	}
	b.Library, b.Test = file.Library, file.Test
	if b.Library == "" || b.Test == "" {
		return errors.New(`name the module of the versions and the package in libraries that tests them, as in "library": "github.com/go-redsync/redsync/v4", "test": "redsync-v4/redigo"`)
	}
	for _, name := range slices.Sorted(maps.Keys(file.Versions)) {
		v := Version{Name: name}
		var hasOption bool
		if v.Number, v.Option, hasOption = strings.Cut(file.Versions[name], " with "); !exactVersion.MatchString(v.Number) || hasOption && v.Option == "" {
			return fmt.Errorf("%s is %q; write a version, as in v4.0.3 or v4.18.1 with WithSetNXOnExtend", name, file.Versions[name])
		}
		b.Versions = append(b.Versions, v)
	}
	return b.checkComparable()
}

// checkComparable returns an error if the versions cannot show what causes the bug: a
// version with the bug and one without it may differ in the number or in the option, but
// not in both.
func (b *Bug) checkComparable() error {
	if !slices.ContainsFunc(b.Versions, Version.Bad) {
		return fmt.Errorf("no version has a name that begins with bad")
	}
	for i, v := range b.Versions {
		for _, w := range b.Versions[:i] {
			switch {
			case v.Number == w.Number && v.Option == w.Option:
				return fmt.Errorf("%s and %s are the same", w.Name, v.Name)
			case v.Number != w.Number && v.Option != w.Option && v.Bad() != w.Bad():
				return fmt.Errorf("%s and %s are different versions, so they must have the same option", w.Name, v.Name)
			}
		}
	}
	return nil
}

// Find returns the bug and the version that a name such as "BUG/VERSION" means.
func Find(name string) (Bug, Version, error) {
	all, err := Bugs()
	if err != nil {
		return Bug{}, Version{}, err
	}
	var names []string
	for _, b := range all {
		for _, v := range b.Versions {
			names = append(names, b.Name+"/"+v.Name)
			if names[len(names)-1] == name {
				return b, v, nil
			}
		}
	}
	return Bug{}, Version{}, fmt.Errorf("there is no %q; there are %s", name, strings.Join(names, ", "))
}
