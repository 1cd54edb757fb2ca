package reports

import (
	"fmt"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/svg"
	"github.com/locksim/locksim/internal/webpage"
	"github.com/locksim/locksim/sim"
)

// wayCards makes the boxes of a page, each about one way to break a lock.
type wayCards struct {
	*explore.Result
	marginBars
	// page returns the address of the page that shows the run of a way's scenario file, or "".
	page func(file string) string
}

// chapter returns the chapter with the cards of a list of ways; nil if the list is empty.
func (c wayCards) chapter(l wayList, legend facts) g.Node {
	if len(l.ways) == 0 {
		return nil
	}
	cards := make(g.Group, len(l.ways))
	for i := range l.ways {
		cards[i] = c.card(l, i)
	}
	return onLines(
		h.H2(g.Text(l.heading())),
		htmlOf(paragraph(l.explanation)),
		h.Div(h.Class("ways"), onLines(cards...)),
		g.If(!legend.empty(), onLines(h.H3(g.Text("What the words mean")), legend.html())),
	)
}

// card returns the box about the way with index i.
func (c wayCards) card(l wayList, i int) g.Node {
	w, news := l.ways[i], l.news(l.ways[i])
	return h.Article(h.Class("way"), h.ID("way-"+l.number(i)), onLines(
		h.H3(h.Span(h.Class("number"), g.Text(l.number(i))), g.Text(" "+wayTitle(w))),
		g.If(news != "", h.P(wideBadge("bad", news))),
		h.Dl(h.Class("harm"),
			labelled("without fencing", harmBadges(w.Off)),
			labelled("with fencing", harmBadges(w.On)),
			labelled("whose fault", blameBadge(w)),
			labelled("seen in", g.Text(story.Count(w.Worlds, "world"))),
		),
		htmlOf(paragraph(visibleLine(w.Story))),
		h.Ul(h.Class("faults"), g.Map(w.Example.Faults, func(f runs.Fault) g.Node { return h.Li(g.Text(exploredFaultWords(w.Example, f))) })),
		onLines(g.Map(w.Margins, c.bar)...),
		htmlOf(c.facts(w)),
		g.If(w.File != "", c.file(w.File)),
		htmlOf(listing{"What the lock did", stack(w, exploredWidth)}),
	))
}

// labelled returns an entry of a list with labels.
func labelled(label string, content g.Node) g.Node {
	return h.Div(h.Dt(g.Text(label)), h.Dd(content))
}

// harmBadges say in short what broke in one run.
func harmBadges(broke []string) g.Node {
	words := breakageWords(broke)
	if len(words) == 0 {
		return badge{"good", "✓", "nothing"}.html()
	}
	return g.Map(words, func(word string) g.Node { return g.Group{wideBadge(harmTone(broke), word), g.Text(" ")} })
}

// blameBadge says whose fault a way is.
func blameBadge(w explore.Way) g.Node {
	if w.Blame == checks.BlameLock {
		return wideBadge("bad", blameWords(w))
	}
	return wideBadge("doubt", blameWords(w))
}

// facts returns further remarks about a way.
func (c wayCards) facts(w explore.Way) facts {
	var all facts
	for _, fact := range []remark{
		{"workload", story.Raw(worldWords(c.Result, w.Example))},
		{"strikes", story.Raw(stagesWords(w))},
		{"also by", story.Raw(otherCauses(w))},
	} {
		if fact.Text != "" {
			all = append(all, fact)
		}
	}
	return all
}

// file names a way's scenario file, with the command that runs it. If there is a page with the
// way's diagram, the name is a link to it.
func (c wayCards) file(file string) g.Node {
	var link g.Node
	if to := c.page(file); to != "" {
		link = g.Group{webpage.A(to, story.Visible(publicFile(file))), h.Br()}
	}
	return h.P(h.Class("replay"), link, h.Code(g.Text(replayWay(publicFile(file)))))
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

// marginBars makes bars that show how large a fault must be to break the lock. The TTL is marked
// on each bar.
type marginBars struct{ ttl, scale time.Duration }

// bar returns the bar for a margin. Up to the size that the lock survived it has one colour, and
// from the size that broke the lock another. The scale for a rate is the largest rate that a
// clock can have.
func (b marginBars) bar(m explore.Margin) g.Node {
	const length, height = 1000, 14
	survived, broken, ttl := b.thousandths(m.Survived.Time), b.thousandths(m.Broken.Time), b.thousandths(b.ttl)
	if m.Broken.Rate != 0 {
		survived, broken, ttl = int(m.Survived.Rate*length/sim.FastestRate), int(m.Broken.Rate*length/sim.FastestRate), 0
	}
	return h.Div(h.Class("margin"),
		h.SVG(svg.ViewBox(length, height), g.Attr("preserveAspectRatio", "none"), h.Aria("hidden", "true"),
			g.El("rect", h.Class("survived"), svg.Size(survived, height)),
			g.El("rect", h.Class("broken"), svg.Number("x", broken), svg.Size(length-broken, height)),
			g.If(ttl != 0, svg.Path("ttl", fmt.Sprintf("M%d 0V%d", ttl, height))),
		),
		h.P(h.B(g.Text("size")), g.Text(" "+m.String())),
	)
}

// thousandths converts a duration to thousandths of a bar.
func (b marginBars) thousandths(d time.Duration) int {
	if b.scale <= 0 {
		return 0
	}
	return min(max(0, int(1000*d.Seconds()/b.scale.Seconds())), 1000)
}
