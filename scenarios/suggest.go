package scenarios

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/locksim/locksim/trace"
)

// A misspelling is a text at a place of the file that is not valid there.
type misspelling struct {
	at   *yaml.Node
	text string
}

// A suggestion is what a misspelling was probably meant to be.
type suggestion struct {
	role trace.Role
	hint string
}

// suggest returns what was meant by a text at a place of the file. It looks once for all
// variants, so that a problem that they share has one hint. After maxHints texts it looks
// no further, and returns an empty suggestion.
func (t *tree) suggest(at *yaml.Node, text string, find func() suggestion) suggestion {
	key := misspelling{at, text}
	m, known := t.suggestions[key]
	if !known && len(t.suggestions) < maxHints {
		m = find()
		t.suggestions[key] = m
	}
	return m
}

// DidYouMean returns a hint for a word that is not among the known ones: the nearest of
// them if one is near, and otherwise all of them. The hint is empty if there are too many
// to list.
func DidYouMean(word string, known []string) string {
	const most = 60
	if near := nearest(word, known); near != "" {
		return "did you mean " + quote(near) + "?"
	}
	if len(known) == 0 || len(known) > most {
		return ""
	}
	return "known here: " + strings.Join(known, ", ")
}

// nearest returns the known word that word was probably meant to be, or "".
func nearest(word string, known []string) string {
	const longest = 64 // a longer word is not a misspelt one
	if len(word) > longest {
		return ""
	}
	squeeze := strings.NewReplacer("-", "", "_", "", " ", "")
	word = squeeze.Replace(strings.ToLower(word))
	best, fewest := "", 1+max(1, len(word)/3)
	for _, k := range known {
		target := squeeze.Replace(strings.ToLower(k))
		edits := editDistance(word, target)
		if len(word) >= 3 && strings.HasPrefix(target, word) {
			edits = min(edits, 1)
		}
		if edits < fewest {
			best, fewest = k, edits
		}
	}
	return best
}

// editDistance counts the single-letter changes that turn a into b, including the exchange
// of two neighbours.
func editDistance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
