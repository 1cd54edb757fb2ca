package locktest

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A story is one subtest: one question, asked in one world or in many.
type story struct {
	// name is the path of the subtest, such as "catalogue/gc-pause".
	name string
	// title is the story in one line.
	title string
	// worlds makes the worlds in which it is told, on one seed. untold says why the
	// story cannot be told with the lock at hand, or is "".
	worlds func(s *subject, seed uint64) (worlds []world, untold string, err error)
}

// A world is one run of a story.
type world struct {
	// name tells the worlds of a story apart. It is empty if there is but one.
	name   string
	config sim.Config
	// witnesses must be seen for the world to mean anything.
	witnesses []trace.Witness
	// asserts says that the clients' programs end with an error only if the lock
	// has done what it must not.
	asserts bool
	// fenced says that the storage checks fencing tokens.
	fenced bool
}

// stories lists all stories, in the order in which they are told.
var stories = sync.OnceValue(func() []story {
	return slices.Concat(conformanceStories(), sweepStories(), catalogueStories())
})

// find is the story of a name.
func find(name string) (story, bool) {
	all := stories()
	if i := slices.IndexFunc(all, func(s story) bool { return s.name == name }); i >= 0 {
		return all[i], true
	}
	return story{}, false
}

// A place names one world: its story, its name in that, and the seed.
type place struct {
	Story string
	World string
	Seed  uint64
}

// String writes the place as LOCKSIM_REPLAY wants it.
func (p place) String() string {
	text := p.Story
	if p.World != "" {
		text += "/" + p.World
	}
	if p.Seed != 1 {
		text += fmt.Sprintf(" seed %d", p.Seed)
	}
	return text
}

// parsePlace reads what String has written. The story's name is the longest that
// the text begins with.
func parsePlace(text string) (place, error) {
	p := place{Seed: 1}
	path, seed, seeded := strings.Cut(strings.TrimSpace(text), " seed ")
	if seeded {
		if _, err := fmt.Sscanf(seed, "%d", &p.Seed); err != nil {
			return p, fmt.Errorf("locktest: in %q the seed must be a number, not %q", text, seed)
		}
	}
	for _, s := range stories() {
		if rest, ok := strings.CutPrefix(path, s.name); ok && len(s.name) > len(p.Story) && (rest == "" || rest[0] == '/') {
			p.Story, p.World = s.name, strings.TrimPrefix(rest, "/")
		}
	}
	if p.Story == "" {
		return p, fmt.Errorf("locktest: no story is called %q; go test -v lists them", path)
	}
	return p, nil
}
