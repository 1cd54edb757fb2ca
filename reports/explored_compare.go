package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/story"
)

// A Comparison lists the ways to break a lock that a search found and an earlier search did
// not find, and vice versa. It leaves out a way if, in its example, a paused process kept
// running, which a real one cannot.
type Comparison struct {
	// Since is the name of the earlier result, such as known.json. Known is that result.
	Since string
	Known *explore.Result
	// New are in the order of the later search, and Gone in the order of the earlier
	// search.
	New  []newWay
	Gone []explore.Way
}

// A newWay is a way that the earlier search did not find, or that has become worse.
type newWay struct {
	Way explore.Way
	// Worse says in which respect a known way has become worse; "" for a way that was not
	// known.
	Worse string
}

// Compare compares a search with an earlier one, whose name is since. Two ways are the same
// if their IDs are equal. A known way counts as new in two cases: with fencing tokens it
// breaks something that it did not break before, or it has become the lock's own fault.
func Compare(result, known *explore.Result, since string) *Comparison {
	c := &Comparison{Since: publicFile(since), Known: known}
	for _, w := range result.Ways {
		before, ok := wayByID(known.Ways, w.ID)
		if !ok {
			c.New = append(c.New, newWay{Way: w})
			continue
		}
		if worse := describeWorsening(before, w); worse != "" {
			c.New = append(c.New, newWay{w, worse})
		}
	}
	for _, w := range known.Ways {
		if _, found := wayByID(result.Ways, w.ID); !found {
			c.Gone = append(c.Gone, w)
		}
	}
	return c
}

// wayByID returns the way with an ID, and whether there is one.
func wayByID(ways []explore.Way, id string) (explore.Way, bool) {
	i := slices.IndexFunc(ways, func(w explore.Way) bool { return w.ID == id })
	if i < 0 {
		return explore.Way{}, false
	}
	return ways[i], true
}

// describeWorsening says in which respect a way has become worse; "" if it has not.
func describeWorsening(before, after explore.Way) string {
	var words []string
	newlyBroken := slices.DeleteFunc(slices.Clone(after.On), func(what string) bool { return slices.Contains(before.On, what) })
	if len(newlyBroken) > 0 {
		words = append(words, "it now breaks "+story.List(newlyBroken)+" with fencing tokens")
	}
	if after.Blame == checks.BlameLock && before.Blame != checks.BlameLock {
		words = append(words, "it is now the lock's own fault")
	}
	return strings.Join(words, ", and ")
}

// newWay returns the entry of the comparison for a new or worse way. It returns false for
// any other way, and if there is no comparison.
func (c *Comparison) newWay(w explore.Way) (newWay, bool) {
	if c == nil {
		return newWay{}, false
	}
	i := slices.IndexFunc(c.New, func(n newWay) bool { return n.Way.ID == w.ID })
	if i < 0 {
		return newWay{}, false
	}
	return c.New[i], true
}

// label returns "NEW" or "WORSE".
func (n newWay) label() string {
	if n.Worse != "" {
		return "WORSE"
	}
	return "NEW"
}

// describe says in full what is new about the way: "NEW since known.json".
func (n newWay) describe(since string) string {
	if n.Worse != "" {
		return "WORSE than in " + story.Visible(since) + ": " + story.Visible(n.Worse)
	}
	return "NEW since " + story.Visible(since)
}

// oneLine returns the label, the title of the way and what is worse.
func (n newWay) oneLine() string {
	text := n.label() + ": " + wayTitle(n.Way)
	if n.Worse != "" {
		text += ": " + story.Visible(n.Worse)
	}
	return text
}

// describeGone describes a way that was not found again.
func describeGone(w explore.Way) string {
	broke := slices.Clone(w.Off)
	for _, name := range w.On {
		if !slices.Contains(broke, name) {
			broke = append(broke, name)
		}
	}
	return story.Cause(w.Cause) + ", which broke " + listBroken(broke)
}

// doubts lists the reasons why the two searches may not be comparable.
func (c *Comparison) doubts(r *explore.Result) []string {
	var doubts []string
	if was := exploredLock(c.Known); was != exploredLock(r) {
		doubts = append(doubts, "The earlier search was of "+was+".")
	}
	if c.Known.Stopped != "" {
		doubts = append(doubts, "The earlier search was incomplete, so a way that seems new may be old.")
	}
	if len(c.Gone) > 0 && (r.Stopped != "" || r.Worlds < c.Known.Worlds) {
		doubts = append(doubts, fmt.Sprintf("This search tried %s and the earlier one %s, so a way that seems gone may still exist.",
			story.Count(r.Worlds, "world"), story.Thousands(c.Known.Worlds)))
	}
	return doubts
}
