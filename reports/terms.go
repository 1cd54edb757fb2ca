package reports

import (
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/glossary"
	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// An explainer marks the words of texts that have a meaning of their own: locks, properties,
// kinds of faults and the words of the glossary.
type explainer struct {
	// meanings are the meanings of all marked words of the page.
	meanings map[string]string
	// explained are the meanings that this part of the page has: a word is marked once.
	explained map[string]bool
}

var wordPattern = lazy.Regexp(`[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*`)

// isInPath reports whether the word at a place of a text is a part of the path of a setting,
// such as faults[1].for. A path is read as a whole, so no word of it is marked.
func isInPath(s string, at []int) bool {
	return strings.HasPrefix(s[at[1]:], "[") || at[0] > 0 && s[at[0]-1] == '.' || at[1]+1 < len(s) && s[at[1]] == '.' && s[at[1]+1] != ' '
}

// words returns a text in which it marks words. The page explains a marked word to a reader who
// points at it or moves the focus to it.
func (e explainer) words(text story.Raw) g.Node {
	var all g.Group
	rest, s := 0, text.String()
	places := wordPattern().FindAllStringIndex(s, -1)
	if meaningOf(s) != "" { // such as "without fencing"
		places = [][]int{{0, len(s)}}
	}
	for _, at := range places {
		name := s[at[0]:at[1]]
		meaning := meaningOf(name)
		if meaning == "" || e.explained[meaning] || isInPath(s, at) {
			continue
		}
		e.explained[meaning] = true
		e.meanings[name] = meaning
		all = append(all, g.Text(s[rest:at[0]]), h.Button(h.Type("button"), h.Class("term"), g.Text(name)))
		rest = at[1]
	}
	return append(all, g.Text(s[rest:]))
}

// meaningOf returns the meaning of a word, also in the plural; "" if it has none of its own.
func meaningOf(name string) string {
	if kind, ok := locks.Lookup(name); ok {
		return kind.Title
	}
	for _, kind := range sim.FaultKinds() {
		if kind.Name == name {
			return kind.Title
		}
	}
	for _, p := range checks.Properties() {
		if string(p) == name {
			return p.Title()
		}
	}
	for _, form := range []string{name, strings.TrimSuffix(name, "s")} {
		if meaning, ok := glossary.Lookup(form); ok {
			return meaning
		}
	}
	return ""
}
