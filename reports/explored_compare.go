package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/story"
)

// A Comparison says what a search found that an earlier one had not, and the
// other way round. Ways in which a paused process ran on are not compared.
type Comparison struct {
	// Since is what people call the earlier result, such as known.json, and Known
	// what it was.
	Since string
	Known *explore.Result
	// New are in the order of the search and Gone in that of the earlier one.
	New  []NewWay
	Gone []explore.Way
}

// A NewWay is a way that an earlier search had not found, or not like that.
type NewWay struct {
	Way explore.Way
	// Worse says in what a way that was known is worse than before; "" is a way that
	// was not known.
	Worse string
}

// Compare compares a search with an earlier one, which people call since. A way
// is known by its ID. It is new all the same if it now breaks something with
// fencing tokens that it did not, or is now the lock's own fault.
func Compare(result, known *explore.Result, since string) *Comparison {
	c := &Comparison{Since: fileForOthers(since), Known: known}
	for _, w := range result.Ways {
		before, ok := wayByID(known.Ways, w.ID)
		if !ok {
			c.New = append(c.New, NewWay{Way: w})
			continue
		}
		if worse := worse(before, w); worse != "" {
			c.New = append(c.New, NewWay{w, worse})
		}
	}
	for _, w := range known.Ways {
		if _, again := wayByID(result.Ways, w.ID); !again {
			c.Gone = append(c.Gone, w)
		}
	}
	return c
}

func wayByID(ways []explore.Way, id string) (explore.Way, bool) {
	i := slices.IndexFunc(ways, func(w explore.Way) bool { return w.ID == id })
	if i < 0 {
		return explore.Way{}, false
	}
	return ways[i], true
}

// worse says in what a way is worse than it was; "" if it is not.
func worse(before, now explore.Way) string {
	var words []string
	more := slices.DeleteFunc(slices.Clone(now.On), func(what string) bool { return slices.Contains(before.On, what) })
	if len(more) > 0 {
		words = append(words, "it now breaks "+story.List(more)+" with fencing tokens")
	}
	if now.Fault == checks.FaultLock && before.Fault != checks.FaultLock {
		words = append(words, "it is now the lock's own fault")
	}
	return strings.Join(words, ", and ")
}

// news is what a comparison says of a way: nothing of one that is known.
func (c *Comparison) news(w explore.Way) (NewWay, bool) {
	if c == nil {
		return NewWay{}, false
	}
	i := slices.IndexFunc(c.New, func(n NewWay) bool { return n.Way.ID == w.ID })
	if i < 0 {
		return NewWay{}, false
	}
	return c.New[i], true
}

// label is the news in one word.
func (n NewWay) label() string {
	if n.Worse != "" {
		return "WORSE"
	}
	return "NEW"
}

// says is the news in full: "NEW since known.json".
func (n NewWay) says(since string) string {
	if n.Worse != "" {
		return "WORSE than in " + story.Visible(since) + ": " + story.Visible(n.Worse)
	}
	return "NEW since " + story.Visible(since)
}

// inOne is the news with what happens in the way.
func (n NewWay) inOne() string {
	text := n.label() + ": " + wayTitle(n.Way)
	if n.Worse != "" {
		text += ": " + story.Visible(n.Worse)
	}
	return text
}

// goneWords says what a way was that was not found again.
func goneWords(w explore.Way) string {
	broke := slices.Clone(w.Off)
	for _, what := range w.On {
		if !slices.Contains(broke, what) {
			broke = append(broke, what)
		}
	}
	return story.Cause(w.Cause) + ", which broke " + inFull(broke)
}

// doubts are the reasons for which the two searches can hardly be compared.
func (c *Comparison) doubts(r *explore.Result) []string {
	var doubts []string
	if was := exploredLock(c.Known); was != exploredLock(r) {
		doubts = append(doubts, "That was a search of "+was+".")
	}
	if c.Known.Stopped != "" {
		doubts = append(doubts, "That search was incomplete, so what seems new may not be.")
	}
	if len(c.Gone) > 0 && (r.Stopped != "" || r.Worlds < c.Known.Worlds) {
		doubts = append(doubts, fmt.Sprintf("This search tried %s and that one %s, so what seems gone may still be there.",
			story.Count(r.Worlds, "world"), story.Thousands(c.Known.Worlds)))
	}
	return doubts
}
