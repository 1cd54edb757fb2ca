package locktest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	voice "github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/trace"
)

// A failing lock mostly makes few mistakes, and each of them fails many test cases. The
// report therefore shows each mistake once, with the shortest example.

// A cause is a mistake of the lock, with all worlds that show it.
type cause struct {
	Mistake checks.Mistake
	Step    trace.Step
	// Rules are the properties that the mistake violated, the worst first.
	Rules []checks.Property
	// Worlds is the number of worlds that show the mistake, and Cases are the names of their
	// test cases.
	Worlds int
	Cases  []string
	// Example is the problem with the shortest excerpt of the timeline.
	Example problem
	// Others are the addresses of worlds of other test cases, at most maxOthers of them.
	Others []address
}

// maxOthers is how many worlds of a cause, in addition to the example, are listed with the command
// that runs them again.
const maxOthers = 2

// causesOf returns the causes of the problems of one world. The example of a cause is the
// problem from which the others follow.
func causesOf(problems []problem) causes {
	var all causes
	for _, p := range problems {
		if i := all.index(p.Mistake, p.Step); i >= 0 {
			all[i].addRules(p.Rule)
			if !p.Follows {
				all[i].Example = p
			}
			continue
		}
		all = append(all, cause{Mistake: p.Mistake, Step: p.Step, Rules: []checks.Property{p.Rule}, Worlds: 1, Example: p})
	}
	return all
}

// causes are causes that differ in their mistake or their step.
type causes []cause

// merge adds a cause. If there is a cause with the same mistake and step, merge adds its worlds
// and rules to that cause.
func (all *causes) merge(c cause) {
	i := all.index(c.Mistake, c.Step)
	if i < 0 {
		*all = append(*all, c)
		return
	}
	old := &(*all)[i]
	old.Worlds += c.Worlds
	old.Cases = append(old.Cases, c.Cases...)
	old.addRules(c.Rules...)
	shown := append([]address{old.Example.Address, c.Example.Address}, slices.Concat(old.Others, c.Others)...)
	if c.Example.length() < old.Example.length() {
		old.Example = c.Example
	}
	old.Others = nil
	seen := map[string]bool{old.Example.Address.TestCase: true}
	for _, a := range shown {
		if !seen[a.TestCase] && len(old.Others) < maxOthers {
			seen[a.TestCase] = true
			old.Others = append(old.Others, a)
		}
	}
}

// index returns the index of the cause with a mistake and a step, or -1.
func (all causes) index(m checks.Mistake, step trace.Step) int {
	return slices.IndexFunc(all, func(c cause) bool { return c.Mistake == m && c.Step == step })
}

// addRules adds properties to those that the mistake violated.
func (c *cause) addRules(rules ...checks.Property) {
	for _, r := range rules {
		if !slices.Contains(c.Rules, r) {
			c.Rules = append(c.Rules, r)
		}
	}
	slices.SortStableFunc(c.Rules, func(a, b checks.Property) int { return a.Card().Gravity - b.Card().Gravity })
}

// length is the smaller, the easier the problem is to understand as an example. The worlds of the
// suite itself have fewer clients and locks than those of the catalogue. An excerpt of one line
// does not show what happened before.
func (p problem) length() int {
	lines := strings.Count(p.Lines, "\n")
	n := lines*1000 + len(p.Why)
	if strings.HasPrefix(p.Address.TestCase, "catalogue/") {
		n += 1_000_000
	}
	if lines == 1 {
		n += 100_000
	}
	return n
}

// sorted returns the causes with the worst first: by their class, then by the number of
// worlds.
func (all causes) sorted() causes {
	all = slices.Clone(all)
	slices.SortStableFunc(all, compareCauses)
	return all
}

// compareCauses puts the worse of two causes first.
func compareCauses(a, b cause) int {
	return cmp.Or(a.class()-b.class(), b.Worlds-a.Worlds, a.Rules[0].Card().Gravity-b.Rules[0].Card().Gravity)
}

// class is 2 for a cause that neither violates mutual exclusion nor damages data. Otherwise it is 0
// if the mistake is recognised, and 1 if only the violated property is known.
func (c cause) class() int {
	switch {
	case c.Rules[0].Card().Gravity > checks.TokenOrder.Card().Gravity:
		return 2
	case slices.Contains(c.Rules, checks.Property(c.Mistake)):
		return 1
	}
	return 0
}

// title says what the lock does wrong.
func (c cause) title() string { return voice.MistakeTitle(c.Mistake, c.Step) }

// rules lists the properties that the mistake violated.
func (c cause) rules() []string {
	names := make([]string, len(c.Rules))
	for i, r := range c.Rules {
		names[i] = string(r)
	}
	return names
}

// replays returns the commands that run the example and some other worlds again.
func (c cause) replays(replayLine func(world string) string) (lines []string) {
	for _, a := range append([]address{c.Example.Address}, c.Others...) {
		lines = append(lines, replayLine(a.String()))
	}
	return lines
}

// pageWidth is how many columns the text of a report has.
const pageWidth = 92

// describe describes the cause, with its number in the report.
func (c cause) describe(number int, replayLine func(world string) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-2d %s\n", number, textwrap.Wrap(c.title(), pageWidth, len(margin)))
	b.WriteString(paragraph(fmt.Sprintf("in %s of %s; violates %s", voice.Count(c.Worlds, "world"), voice.Count(len(c.Cases), "test case"), strings.Join(c.rules(), ", "))))
	fmt.Fprintf(&b, "\n%s", c.describeExample())
	for _, line := range c.replays(replayLine) {
		fmt.Fprintf(&b, "%sreplay: %s\n", margin, line)
	}
	return b.String()
}

// describeExample says what happens in the example, and what to change.
func (c cause) describeExample() string {
	var b strings.Builder
	b.WriteString(paragraph(c.Example.Why))
	if c.Example.Lines != "" {
		fmt.Fprintf(&b, "%s\n", indent(clip(c.Example.Lines), margin))
	}
	if c.Example.InTheWay != "" {
		b.WriteString(paragraph("in the way: " + c.Example.InTheWay))
	}
	b.WriteString("\n")
	remedy, scenario := voice.Remedy(c.Mistake)
	if remedy != "" {
		b.WriteString(paragraph("remedy: " + remedy))
	}
	if scenario != "" {
		b.WriteString(paragraph("lesson: locksim explain " + scenario))
	}
	return b.String()
}

// margin is the margin of everything that a report says of a cause.
const margin = "   "

// paragraph writes a text with the margin, in lines of the page's width.
func paragraph(text string) string {
	return margin + textwrap.Wrap(text, pageWidth, len(margin)) + "\n"
}

// maxLines is how many lines of an excerpt a report shows. The replay shows all of them.
const maxLines = 16

// clip shortens an excerpt that is too long for a report.
func clip(lines string) string {
	all := strings.Split(strings.TrimRight(lines, "\n"), "\n")
	if len(all) <= maxLines {
		return lines
	}
	return strings.Join(append(all[:maxLines], fmt.Sprintf("… the replay shows %s more", voice.Count(len(all)-maxLines, "line"))), "\n")
}

// indent puts a margin before each line that is not empty, and removes empty lines at the
// end.
func indent(lines, margin string) string {
	all := strings.Split(strings.TrimRight(lines, "\n"), "\n")
	for i, line := range all {
		if strings.TrimSpace(line) != "" {
			all[i] = margin + line
		}
	}
	return strings.Join(all, "\n")
}
