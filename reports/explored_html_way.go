package reports

import (
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/sim"
)

// A wayCard is one way to break a lock, on a page.
type wayCard struct {
	ID, Number, Title, News, Story string
	Off, On                        wayHarm
	Blame, BlameMood, Worlds       string
	Faults                         []string
	Facts                          []remark
	Margins                        []marginBar
	// File is the scenario file of the way, Replay the command that runs it, and Page the
	// page with its diagram; each "" if there is none.
	File, Replay, Page string
	// Stack is the misconduct of the lock, with its stack.
	Stack listing
}

// A wayHarm says in short what broke in one run.
type wayHarm struct {
	Run, Mood string
	Words     []string
}

// A marginBar shows as a bar how large a fault must be. Up to Survived nothing breaks; from
// Broken on something does, over the Rest of the bar. These positions, and that of the TTL,
// are thousandths of the bar.
type marginBar struct {
	Text                        string
	Survived, Broken, Rest, TTL int
}

// marginScale returns the scale of all bars of a page, so that they can be compared. The
// longest bar fits with some room, which shows that larger faults break the lock too.
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

// cards lay out the ways of a search. page is as in [exploredPage].
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

// newCard returns the content of a way's card that does not depend on its list.
func newCard(r *explore.Result, w explore.Way, bars marginBars) wayCard {
	card := wayCard{
		Title: wayTitle(w), Story: story.Visible(textwrap.OneLine(w.Story)),
		Off: wayHarm{"without fencing", harmTone(w.Off), inShort(w.Off)}, On: wayHarm{"with fencing", harmTone(w.On), inShort(w.On)},
		Blame: blameWords(w), BlameMood: "doubt", Worlds: story.Count(w.Worlds, "world"),
		File: story.Visible(publicFile(w.File)), Stack: listing{"What the lock did", stack(w)},
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
		card.Margins = append(card.Margins, bars.of(m))
	}
	return card
}

// marginBars draws sizes next to the TTL, to one scale.
type marginBars struct{ ttl, scale time.Duration }

// of draws a margin: a time relative to the TTL, a rate relative to the largest rate that a
// clock can have.
func (b marginBars) of(m explore.Margin) marginBar {
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
