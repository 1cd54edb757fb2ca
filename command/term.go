package command

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/repository"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/glossary"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// A term is a word that explain explains without a scenario: a lock, a property, a kind of
// fault, or a word of the glossary.
type term struct {
	name, kind string
	// facts are labels and texts.
	facts [][2]string
	// flag is the flag of locksim list that finds the scenarios about the term, and filter has that
	// flag set; flag is "" for a word of the glossary.
	flag   string
	filter listFlags
	// document is where more is written about terms of this kind.
	document string
}

// findTerm returns the term that text names, in upper or lower case; ok is false if there
// is none.
func findTerm(text string) (t term, ok bool) {
	name := strings.ToLower(text)
	if kind, ok := locks.Lookup(name); ok {
		t = term{name: name, kind: "lock", flag: "--lock", filter: listFlags{lock: name}, document: repository.Document("scenarios.md") + ", Locks"}
		t.add("what it is", kind.Title)
		t.add("servers", cmp.Or(kind.System, "none"))
		t.add("library", kind.Library)
		if kind.Endless {
			t.add("its end", "a grant never ends by itself: the lock ignores the TTL")
		}
		return t, true
	}
	if slices.Contains(propertyNames(), name) {
		card := checks.Property(name).Card()
		t = term{name: name, kind: "property", flag: "--violates", filter: listFlags{violates: name}, document: repository.Document("properties.md")}
		t.add("it holds if", card.Title)
		t.add("if violated", card.Broken)
		switch card.Subject {
		case checks.SubjectData:
			t.add("verdict", "a run that violates it is unsafe, because it is about the data")
		case checks.SubjectMisconduct:
			t.add("in reports", "only if it is violated: no caller can accept this behaviour of a lock")
		}
		return t, true
	}
	for _, kind := range sim.FaultKinds() {
		if kind.Name == name {
			t = term{name: name, kind: "fault", flag: "--fault", filter: listFlags{fault: name}, document: repository.Document("scenarios.md") + ", Faults"}
			t.add("what it is", kind.Title)
			t.add("write", shortestFault(name))
			return t, true
		}
	}
	if meaning, ok := glossary.Lookup(name); ok {
		t = term{name: text, kind: "term", document: repository.Document("glossary.md")}
		t.add("meaning", meaning)
		return t, true
	}
	return term{}, false
}

// shortestFault returns the shortest text of a fault of the given kind in the catalogue, as a
// scenario file has it. It prefers a fault with a duration. It returns "" if there is none.
func shortestFault(kind string) (shortest string) {
	const duration, otherField = ", for: ", ", "
	for _, part := range []string{duration, otherField, ""} {
		for _, s := range scenarios.Embedded() {
			for _, v := range s.Variants {
				line := v.FaultLine(kind)
				if line != "" && strings.Contains(line, part) && (shortest == "" || len(line) < len(shortest)) {
					shortest = line
				}
			}
		}
		if shortest != "" {
			break
		}
	}
	return shortest
}

// add adds a fact, if it is not empty.
func (t *term) add(label, text string) {
	if text != "" {
		t.facts = append(t.facts, [2]string{label, text})
	}
}

// hintOfTerm says what to do with the name of a term where a scenario is expected; "" if it
// is no term.
func hintOfTerm(name string) string {
	t, ok := findTerm(name)
	if !ok {
		return ""
	}
	if t.flag == "" {
		return fmt.Sprintf("it is a term; `locksim explain '%s'` explains it", name)
	}
	return fmt.Sprintf("it is a %s; `locksim explain %s` explains it, and `locksim list %s %s` finds its scenarios", t.kind, name, t.flag, name)
}

// termNames lists the names of all terms.
func termNames() []string {
	return slices.Concat(locks.Names(), propertyNames(), faultKinds(), glossary.Words())
}

// write writes the term, and the scenarios in which it matters.
func (t term) write(w io.Writer) error {
	const mostExamples, labelWidth = 8, 11
	width := cmp.Or(chooseWidth(w), usualWidth)
	var names []string
	for _, group := range scenarios.Catalogue() {
		for _, s := range group.Scenarios {
			if t.flag != "" && t.filter.matches(s) && s.Name != t.name {
				names = append(names, s.Name)
			}
		}
	}
	if len(names) > 0 {
		examples := strings.Join(names[:min(len(names), mostExamples)], ", ")
		if more := len(names) - mostExamples; more > 0 {
			examples += fmt.Sprintf(" and %d more", more)
		}
		t.add("scenarios", examples)
		t.add("try", fmt.Sprintf("locksim explain %s\nlocksim list %s %s", names[0], t.flag, t.name))
	}
	t.add("more", t.document)
	var b strings.Builder
	fmt.Fprintf(&b, "%s: a %s\n\n", t.name, t.kind)
	for _, fact := range t.facts {
		label := fact[0]
		for line := range strings.SplitSeq(fact[1], "\n") {
			text := textwrap.Wrap(line, width-labelWidth-4, 0)
			fmt.Fprintf(&b, "  %-*s  %s\n", labelWidth, label, strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", labelWidth+4)))
			label = ""
		}
	}
	_, err := io.WriteString(w, b.String())
	return outputError(err)
}
