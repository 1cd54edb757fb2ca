package reports

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
)

// A wayList is a list of ways to break a lock, with its title.
type wayList struct {
	title, explanation string
	// letter is put before the number of each way, so that numbers are unique in a report.
	letter string
	ways   []explore.Way
	// since is the comparison with an earlier search; nil if there is none.
	since *Comparison
}

// wayLists returns two lists of ways. In the ways of the second list, ranOn, a paused
// process kept running; they are not compared with an earlier search. Either list may be
// empty.
func wayLists(r *explore.Result, since *Comparison) (found, ranOn wayList) {
	return wayList{"Ways to break it, the worst first", "", "", r.Ways, since}, wayList{"Listed separately", aboutRanOn, "r", r.RanOn, nil}
}

// heading returns the title with the number of ways.
func (l wayList) heading() string { return fmt.Sprintf("%s (%d)", l.title, len(l.ways)) }

// number returns the number of the way with index i, as the report shows it.
func (l wayList) number(i int) string { return fmt.Sprintf("%s%d", l.letter, i+1) }

// news says whether a way is new or has become worse; "" if it is neither.
func (l wayList) news(w explore.Way) string {
	if n, found := l.since.newWay(w); found {
		return n.describe(l.since.Since)
	}
	return ""
}

// shortTable returns a table with a row for each way. The text report adds the details of
// each way below it.
func (l wayList) shortTable() table {
	out := table{Heads: heads("", "way", "without fencing", "with fencing", "whose fault", "size", "worlds")}
	for i, w := range l.ways {
		var sizes []string
		for _, m := range w.Margins {
			sizes = append(sizes, marginCell(m))
		}
		way := plainCell(textwrap.Wrap(story.Cause(w.Cause), 24, 0))
		if n, found := l.since.newWay(w); found {
			way = append(tableCell{badSign.span(n.label()), {Text: "\n", Tone: plain}}, way...)
		}
		out.add(plainCell(l.number(i)), way, harmInShort(w.Off), harmInShort(w.On), blameInShort(w), plainCell(sizes...), plainCell(story.Thousands(w.Worlds)))
	}
	return out
}

// harmInShort returns a cell with a line for each kind of damage.
func harmInShort(broke []string) tableCell {
	return tableCell{{cmp.Or(strings.Join(breakageWords(broke), "\n"), "–"), harmTone(broke), ""}}
}

// harmTone returns the colour for what broke.
func harmTone(broke []string) string {
	switch {
	case len(broke) == 0:
		return "good"
	case corrupts(broke):
		return "bad"
	}
	return "doubt"
}

// blameInShort returns a cell that says whose fault a way is.
func blameInShort(w explore.Way) tableCell {
	switch w.Blame.Kind {
	case checks.KindLock:
		return tableCell{badSign.span(blameWords(w))}
	case checks.KindInherent:
		return plainCell("inherent") // the legend explains the word
	}
	return plainCell(textwrap.Wrap(blameWords(w), 13, 0))
}

// fullTable returns a table with a row for each way, which has all details of the way.
func (l wayList) fullTable(r *explore.Result) table {
	out := table{Heads: heads("", "way", "faults", "without fencing", "with fencing", "whose fault", "size", "worlds", "scenario")}
	for i, w := range l.ways {
		var sizes, faults []string
		for _, m := range w.Margins {
			sizes = append(sizes, m.String())
		}
		for _, f := range w.Example.Faults {
			faults = append(faults, exploredFaultWords(w.Example, f))
		}
		if world := worldWords(r, w.Example); world != "" {
			faults = append(faults, "workload: "+world)
		}
		if stages := stagesWords(w); stages != "" {
			faults = append(faults, "strikes "+stages)
		}
		title := wayTitle(w)
		if others := otherCauses(w); others != "" {
			title += "\nalso by: " + others
		}
		way := plainCell(title)
		if news := l.news(w); news != "" {
			way = append(tableCell{badSign.span(news), {Text: "\n", Tone: plain}}, way...)
		}
		out.add(plainCell(l.number(i)), way, plainCell(faults...), harmInFull(w.Off), harmInFull(w.On), blameInFull(w),
			plainCell(sizes...), plainCell(story.Thousands(w.Worlds)), tableCell{{publicFile(w.File), plain, w.File}})
	}
	return out
}

// harmInFull returns a cell with the properties that were violated. It is highlighted if
// the data is damaged.
func harmInFull(broke []string) tableCell {
	if corrupts(broke) {
		return tableCell{badSign.span(listBroken(broke))}
	}
	return plainCell(listBroken(broke))
}

// blameInFull returns a cell that says whose fault a way is, with an explanation if that is
// nobody.
func blameInFull(w explore.Way) tableCell {
	switch {
	case w.Blame == checks.BlameLock:
		return tableCell{badSign.span(blameWords(w))}
	case isOnlyLateWrite(w):
		return plainCell(blameWords(w) + ": a write arrived late")
	}
	return plainCell(blameWords(w))
}
