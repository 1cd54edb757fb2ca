package reports

import (
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/sim"
)

// A wayCard is a box on a page about one way to break a lock.
type wayCard struct {
	ID, Number, Title, News, Story string
	Off, On                        wayHarm
	Blame, BlameMood, Worlds       string
	Faults                         []string
	Facts                          []remark
	Margins                        []marginBar
	// File is the way's scenario file, Replay the command that runs it, and Page the
	// address of the page with its diagram. Each is "" if there is none.
	File, Replay, Page string
	// Stack says how the lock misbehaved, with the stack of a panic.
	Stack listing
}

// A wayHarm says in short what broke in one run. Mood is the colour of its badges, such as
// "bad"; [Palette.paint] has all names of colours.
type wayHarm struct {
	Run, Mood string
	Words     []string
}

// A marginBar is a bar that shows how large a fault must be to break the lock. Up to the size
// Survived nothing breaks, and from Broken on something breaks. All positions, including the
// TTL's, are in thousandths of the bar. Rest is the length from Broken to the end.
type marginBar struct {
	Text                        string
	Survived, Broken, Rest, TTL int
}

// marginScale returns the duration at the end of all bars of a page. All bars have the same
// scale, so readers can compare them. It exceeds the longest duration, to show that larger
// faults break the lock too.
func marginScale(r *explore.Result) time.Duration {
	longest := r.TTL
	for _, ways := range [][]explore.Way{r.Ways, r.RanOn} {
		for _, w := range ways {
			for _, m := range w.Margins {
				longest = max(longest, m.Broken.Time)
			}
		}
	}
	return longest + longest/4
}

// cards returns the cards of the list's ways. page returns the address of the page that shows
// the run of a way's scenario file, or "".
func (l wayList) cards(r *explore.Result, page func(file string) string) []wayCard {
	bars := marginBars{r.TTL, marginScale(r)}
	cards := make([]wayCard, len(l.ways))
	for i, w := range l.ways {
		cards[i] = newCard(r, w, bars)
		cards[i].ID, cards[i].Number = "way-"+l.number(i), l.number(i)
		cards[i].News, cards[i].Page = l.news(w), page(w.File)
	}
	return cards
}

// newCard returns a way's card without its number and its links, which depend on the list.
func newCard(r *explore.Result, w explore.Way, bars marginBars) wayCard {
	card := wayCard{
		Title: wayTitle(w), Story: story.Visible(textwrap.OneLine(w.Story)),
		Off: wayHarm{"without fencing", harmTone(w.Off), breakageWords(w.Off)}, On: wayHarm{"with fencing", harmTone(w.On), breakageWords(w.On)},
		Blame: blameWords(w), BlameMood: "doubt", Worlds: story.Count(w.Worlds, "world"),
		File: story.Visible(publicFile(w.File)), Stack: listing{"What the lock did", stack(w, exploredWidth)},
	}
	if w.Blame == checks.BlameLock {
		card.BlameMood = "bad"
	}
	if w.File != "" {
		card.Replay = replayWay(publicFile(w.File))
	}
	for _, f := range w.Example.Faults {
		card.Faults = append(card.Faults, exploredFaultWords(w.Example, f))
	}
	for _, fact := range []remark{
		{"workload", story.Raw(worldWords(r, w.Example))},
		{"strikes", story.Raw(stagesWords(w))},
		{"also by", story.Raw(otherCauses(w))},
	} {
		if fact.Text != "" {
			card.Facts = append(card.Facts, fact)
		}
	}
	for _, m := range w.Margins {
		card.Margins = append(card.Margins, bars.bar(m))
	}
	return card
}

// marginBars makes bars for sizes of faults. The TTL is marked on each bar.
type marginBars struct{ ttl, scale time.Duration }

// bar returns the bar for a margin. The scale for a rate is the largest rate that a clock
// can have.
func (b marginBars) bar(m explore.Margin) marginBar {
	if m.Broken.Rate != 0 {
		broken := int(m.Broken.Rate * 1000 / sim.FastestRate)
		return marginBar{m.String(), int(m.Survived.Rate * 1000 / sim.FastestRate), broken, 1000 - broken, 0}
	}
	broken := b.thousandths(m.Broken.Time)
	return marginBar{m.String(), b.thousandths(m.Survived.Time), broken, 1000 - broken, b.thousandths(b.ttl)}
}

// thousandths converts a duration to thousandths of a bar.
func (b marginBars) thousandths(d time.Duration) int {
	if b.scale <= 0 {
		return 0
	}
	return min(max(0, int(1000*d.Seconds()/b.scale.Seconds())), 1000)
}
