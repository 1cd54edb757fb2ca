package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/scenarios"
)

// A bug is one folder: its story, and the modules that tell it.
type bug struct {
	name  string
	story *scenarios.Scenario
	// bad have the bug; good, which there need not be, have not.
	bad, good []*module
}

// readBugs reads all folders that have a story, in alphabetical order.
func readBugs(root string) ([]*bug, error) {
	stories, err := filepath.Glob(filepath.Join(root, "*", "story.yaml"))
	if err != nil {
		return nil, err
	}
	var bugs []*bug
	for _, file := range stories {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		dir := filepath.Dir(file)
		b := &bug{name: filepath.Base(dir)}
		if b.story, err = scenarios.Parse(filepath.Join(b.name, "story.yaml"), data); err != nil {
			return nil, err
		}
		mods, err := filepath.Glob(filepath.Join(dir, "*", "go.mod"))
		if err != nil {
			return nil, err
		}
		for _, mod := range mods {
			m, err := readModule(filepath.Dir(mod))
			if err != nil {
				return nil, err
			}
			if strings.HasPrefix(m.name, "bad") {
				b.bad = append(b.bad, m)
			} else {
				b.good = append(b.good, m)
			}
		}
		if len(b.bad) == 0 {
			return nil, fmt.Errorf("%s has no module whose name begins with bad", b.name)
		}
		bugs = append(bugs, b)
	}
	return bugs, nil
}

// tell tells the bug's story and asks the suite, and makes the bug's line of the
// table. When it only checks, it asks the suite about the story that the old line
// names.
func (b *bug) tell(bins string, check bool, old *row) (row, error) {
	start := time.Now()
	r := row{name: b.name, title: b.story.Title, source: b.story.Source, library: b.bad[0].library}
	sound, err := scenarios.Run(b.story, scenarios.RunOptions{Seed: 1})
	if err != nil {
		return r, err
	}
	if sound.AsExpected == nil || !*sound.AsExpected {
		return r, fmt.Errorf("with a sound lock (%s) the story is not what it expects: locksim run trackrecord/%s/story.yaml", sound.Lock, b.name)
	}
	if err := b.sameCode(); err != nil {
		return r, err
	}
	for _, m := range slices.Concat(b.bad, b.good) {
		if err := m.build(bins); err != nil {
			return r, err
		}
	}
	fmt.Printf("  built in %v\n", time.Since(start).Round(time.Second/10))
	var first time.Duration
	for _, m := range slices.Concat(b.bad, b.good) {
		s, err := m.tellStory()
		if err != nil {
			return r, err
		}
		bad := slices.Contains(b.bad, m)
		fmt.Printf("  %s: %s\n", m.title(), s)
		switch {
		case bad && len(s.broken) == 0:
			return r, fmt.Errorf("%s has the bug, but the story does not show it", m.title())
		case bad:
			r.bad = append(r.bad, m.title()+": "+s.worlds)
			r.breaks, first = s.broken, max(first, s.first)
		case len(s.broken) > 0:
			return r, fmt.Errorf("%s does not have the bug, but breaks %s", m.title(), strings.Join(s.broken, ", "))
		default:
			r.good = append(r.good, m.title()+": "+s.worlds)
		}
	}
	if len(r.good) == 0 {
		r.good = []string{"none; the lock `" + sound.Lock + "` passes"}
	}
	if check {
		return r, b.checkSuite(&r, old)
	}
	return r, b.survey(&r, first)
}

// record writes a line for each version.
func (b *bug) record(w io.Writer) error {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	for _, m := range slices.Concat(b.bad, b.good) {
		if err := lines.Encode(m.record); err != nil {
			return fmt.Errorf("%s/%s: %w", b.name, m.name, err)
		}
	}
	return nil
}

// sameCode compares the tests of versions: if one passes and the other fails, it
// must not be because of them.
func (b *bug) sameCode() error {
	want, err := b.bad[0].test()
	if err != nil {
		return err
	}
	for _, m := range slices.Concat(b.bad, b.good) {
		code, err := m.test()
		if err != nil {
			return err
		}
		if m.version != b.bad[0].version && code != want {
			return fmt.Errorf("%s and %s test different versions and must do so with the same code, but it differs", m.name, b.bad[0].name)
		}
	}
	return nil
}

// survey runs the suite with all versions and finds the first of its stories that
// fails those with the bug, for what the bug breaks, and no others, and that knows
// nothing of the library.
func (b *bug) survey(r *row, first time.Duration) error {
	r.time = fmt.Sprintf("story: %v", first.Round(100*time.Microsecond))
	var candidates []failure
	for i, m := range b.bad {
		s, err := m.survey()
		if err != nil {
			return err
		}
		fmt.Printf("  %s: %d stories of the suite fail it\n", m.title(), len(s.failures))
		if i == 0 {
			candidates, r.suite = s.failures, s.worlds
			continue
		}
		candidates = slices.DeleteFunc(candidates, func(f failure) bool { return !s.fails(f.story) })
	}
	for _, m := range b.good {
		s, err := m.survey()
		if err != nil {
			return err
		}
		fmt.Printf("  %s: %d stories of the suite fail it\n", m.title(), len(s.failures))
		candidates = slices.DeleteFunc(candidates, func(f failure) bool { return s.fails(f.story) })
	}
	for _, f := range candidates {
		if !f.breaks(r.breaks) || aboutALibrary(f.story) {
			continue
		}
		r.found = f.story
		r.time += fmt.Sprintf("; suite: %v, in the first %d of %d worlds", f.after.Round(100*time.Millisecond), f.worlds, r.suite)
		fmt.Printf("  the suite finds it by %s, after %d worlds and %v\n", f.story, f.worlds, f.after)
		return nil
	}
	r.found = notFound
	fmt.Println("  the suite does not find it")
	return nil
}

// libraries are what stories of the catalogue are named after that tell of one.
var libraries = []string{"redsync", "redislock", "rueidislock"}

// aboutALibrary reports whether a story of the suite is about some library: then it
// may have been made of this very bug.
func aboutALibrary(story string) bool {
	return slices.ContainsFunc(libraries, func(l string) bool { return strings.Contains(story, l) })
}

// checkSuite asks the suite about the one story that an old line says shows the
// bug.
func (b *bug) checkSuite(r *row, old *row) error {
	if old == nil {
		return fmt.Errorf("the table has no line of it: go run ./trackrecord/run %s", b.name)
	}
	r.found, r.time = old.found, old.time
	if old.found == notFound {
		return nil
	}
	for _, m := range slices.Concat(b.bad, b.good) {
		fails, err := m.failsIn(old.found)
		if err != nil {
			return err
		}
		if bad := slices.Contains(b.bad, m); fails != bad {
			return fmt.Errorf("%s: that %s fails in the suite's %s is %v", m.name, m.title(), old.found, fails)
		}
	}
	fmt.Printf("  the suite finds it by %s\n", old.found)
	return nil
}
