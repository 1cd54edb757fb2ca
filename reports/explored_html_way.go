package reports

import (
	"strconv"
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
	// File is the scenario file that tells it, Replay the command that runs it, and
	// Page what shows its diagram; "" is none.
	File, Replay, Page string
	// Stack is what a lock did that no lock may do.
	Stack []string
}

// A wayHarm is what broke in one run, in short.
type wayHarm struct {
	Run, Mood string
	Words     []string
}

// A marginBar is how large a fault has to be, as a bar. Up to Survived nothing breaks;
// from Broken on something does, which is the Rest of the bar. These, and where the TTL
// is, are thousandths of it.
type marginBar struct {
	Text                        string
	Survived, Broken, Rest, TTL int
}

// wayCards lays out the ways of a search.
type wayCards struct {
	result *explore.Result
	page   func(file string) string
	// scale is the length of time of a whole bar.
	scale time.Duration
}

// marginScale is the scale of all bars of a page: so that they compare, the longest of
// them fits, and it can be seen that more breaks as well.
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

// card lays out one way. Its number is its place after a letter, if there is one.
func (c wayCards) card(w explore.Way, letter string, place int) wayCard {
	number := letter + strconv.Itoa(place)
	card := wayCard{
		ID: "way-" + number, Number: number, Title: wayTitle(w), Story: story.Visible(textwrap.OneLine(w.Story)),
		Off: harmIn("without fencing", w.Off), On: harmIn("with fencing", w.On),
		Blame: whoseFault(w), BlameMood: "doubt", Worlds: story.Count(w.Worlds, "world"),
		File: story.Visible(fileForOthers(w.File)), Page: c.page(w.File), Stack: stack(w),
	}
	if w.Fault == checks.FaultLock {
		card.BlameMood = "bad"
	}
	if w.File != "" {
		card.Replay = replayWay(fileForOthers(w.File))
	}
	for _, f := range w.Example.Faults {
		card.Faults = append(card.Faults, exploredFaultWords(w.Example, f))
	}
	for _, fact := range []remark{
		{"workload", story.Raw(worldWords(c.result, w.Example))},
		{"strikes", story.Raw(stagesWords(w))},
		{"also by", story.Raw(othersWords(w))},
	} {
		if fact.Text != "" {
			card.Facts = append(card.Facts, fact)
		}
	}
	for _, m := range w.Margins {
		card.Margins = append(card.Margins, c.marginBar(m))
	}
	return card
}

// marginBar shows a size that is a time beside the TTL, and a rate beside the largest
// that a clock can have.
func (c wayCards) marginBar(m explore.Margin) marginBar {
	if m.Broken.Rate != 0 {
		broken := int(m.Broken.Rate * 1000 / sim.FastestRate)
		return marginBar{marginWords(m), int(m.Survived.Rate * 1000 / sim.FastestRate), broken, 1000 - broken, 0}
	}
	broken := c.thousandths(m.Broken.Time)
	return marginBar{marginWords(m), c.thousandths(m.Survived.Time), broken, 1000 - broken, c.thousandths(c.result.TTL)}
}

// thousandths is how much of a bar a length of time is.
func (c wayCards) thousandths(d time.Duration) int {
	if c.scale <= 0 {
		return 0
	}
	return min(max(0, int(1000*d.Seconds()/c.scale.Seconds())), 1000)
}

func harmIn(run string, broke []string) wayHarm {
	h := wayHarm{run, "good", inShort(broke)}
	switch {
	case corrupts(broke):
		h.Mood = "bad"
	case len(broke) > 0:
		h.Mood = "doubt"
	}
	return h
}
