package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trackrecord/internal/proof"
)

// A bug is one bug of the track record: its story, which is a scenario that shows the bug, and the
// versions of the library to test with the story.
type bug struct {
	name  string
	story *scenarios.Scenario
	// bad are the versions with the bug, and good the versions without it. There may be no
	// good versions.
	bad, good []*version
}

// readBugs reads all bugs, in alphabetical order.
func readBugs(tests *builder) ([]*bug, error) {
	all, err := proof.Bugs()
	if err != nil {
		return nil, err
	}
	var bugs []*bug
	for _, folder := range all {
		b := &bug{name: folder.Name, story: folder.Story}
		for _, v := range folder.Versions {
			if v := newVersion(folder, v, tests); v.Bad() {
				b.bad = append(b.bad, v)
			} else {
				b.good = append(b.good, v)
			}
		}
		bugs = append(bugs, b)
	}
	return bugs, nil
}

// versions returns all versions, those with the bug first.
func (b *bug) versions() []*version { return slices.Concat(b.bad, b.good) }

// test runs the bug's story and the suite with all versions, and returns the bug's row of the
// table. old is the bug's row in the README, or nil. If check is set, test runs only the test case
// of the suite that this row names.
func (b *bug) test(check bool, old *row) (row, error) {
	start := time.Now()
	r := row{name: b.name, title: b.story.Title, source: b.story.Source, library: b.bad[0].bug.Library}
	sound, err := scenarios.Run(b.story, scenarios.RunOptions{Seed: 1})
	if err != nil {
		return r, err
	}
	if sound.AsExpected == nil || !*sound.AsExpected {
		return r, fmt.Errorf("with a sound lock (%s) the result of the story is not as expected; to see it: locksim run trackrecord/%s/story.yaml", sound.Lock, b.name)
	}
	for _, v := range b.versions() {
		if err := v.build(); err != nil {
			return r, err
		}
	}
	fmt.Printf("  built in %v\n", time.Since(start).Round(time.Second/10))
	var first time.Duration
	for _, v := range b.versions() {
		s, err := v.runStory()
		if err != nil {
			return r, err
		}
		bad := v.Bad()
		fmt.Printf("  %s: %s\n", v.title(), s)
		switch {
		case bad && len(s.broken) == 0:
			return r, fmt.Errorf("%s has the bug, but the story does not show it", v.title())
		case bad:
			r.bad = append(r.bad, v.title()+": "+s.worlds)
			r.breaks, first = s.broken, max(first, s.firstTime)
		case len(s.broken) > 0:
			return r, fmt.Errorf("%s does not have the bug, but breaks %s", v.title(), strings.Join(s.broken, ", "))
		default:
			r.good = append(r.good, v.title()+": "+s.worlds)
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

// writeRecords writes the record of each version as a line of JSON.
func (b *bug) writeRecords(w io.Writer) error {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	for _, v := range b.versions() {
		if err := lines.Encode(v.record); err != nil {
			return fmt.Errorf("%s/%s: %w", b.name, v.Name, err)
		}
	}
	return nil
}

// survey runs the suite with all versions. It looks for the first test case that finds the bug:
// every bad version fails it because of what the bug breaks, and no good version fails it. Test
// cases that are about a library do not count (see isAboutLibrary). first is the real time of the
// first world in which the story shows the bug.
func (b *bug) survey(r *row, first time.Duration) error {
	r.times = fmt.Sprintf("story: %v", first.Round(100*time.Microsecond))
	var candidates []failure
	for i, v := range b.bad {
		s, err := v.survey()
		if err != nil {
			return err
		}
		fmt.Printf("  %s fails %d test cases of the suite\n", v.title(), len(s.failures))
		if i == 0 {
			candidates, r.suiteWorlds = s.failures, s.worlds
			continue
		}
		candidates = slices.DeleteFunc(candidates, func(f failure) bool { return !s.fails(f.story) })
	}
	for _, v := range b.good {
		s, err := v.survey()
		if err != nil {
			return err
		}
		fmt.Printf("  %s fails %d test cases of the suite\n", v.title(), len(s.failures))
		candidates = slices.DeleteFunc(candidates, func(f failure) bool { return s.fails(f.story) })
	}
	for _, f := range candidates {
		if !f.breaks(r.breaks) || isAboutLibrary(f.story) {
			continue
		}
		r.foundBy = f.story
		r.times += fmt.Sprintf("; suite: %v, in the first %d of %d worlds", f.after.Round(100*time.Millisecond), f.worlds, r.suiteWorlds)
		fmt.Printf("  the suite finds it by %s, after %d worlds and %v\n", f.story, f.worlds, f.after)
		return nil
	}
	r.foundBy = notFound
	fmt.Println("  the suite does not find it")
	return nil
}

// libraries are words by which isAboutLibrary recognizes the scenarios of the catalogue that
// are about a library.
var libraries = []string{"redsync", "redislock", "rueidislock", "etcd", "zookeeper", "consul", "kubernetes"}

// isAboutLibrary reports whether a test case of the suite is about a library. Such a test
// case may have been written because of this bug, so it does not show that the suite finds
// bugs that nobody knew.
func isAboutLibrary(story string) bool {
	return slices.ContainsFunc(libraries, func(l string) bool { return strings.Contains(story, l) })
}

// checkSuite runs the test case of the suite that finds the bug according to the row in the
// README.
func (b *bug) checkSuite(r *row, old *row) error {
	if old == nil {
		return fmt.Errorf("the table has no row for it; add it with go run ./trackrecord/run %s", b.name)
	}
	r.foundBy, r.times = old.foundBy, old.times
	if old.foundBy == notFound {
		return nil
	}
	for _, v := range b.versions() {
		fails, err := v.failsIn(old.foundBy)
		if err != nil {
			return err
		}
		if fails != v.Bad() {
			return fmt.Errorf("%s: with %s, the test case %s of the suite fails: %v, want %v", v.Name, v.title(), old.foundBy, fails, v.Bad())
		}
	}
	fmt.Printf("  the suite finds it by %s\n", old.foundBy)
	return nil
}
