package scenarios

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/locksim/locksim/trace"
)

// A misspelling is a text that is not valid at a place of the file.
type misspelling struct {
	at   *yaml.Node
	text string
}

// A suggestion is what a misspelling was probably meant to be: the hint for the error, and
// the role if the misspelling is the name of a process.
type suggestion struct {
	role trace.Role
	hint string
}

// suggest returns what was probably meant by a text at a place of the file, as find returns it.
// It remembers the result, because several variants may share the misspelling. After maxHints
// misspellings it returns an empty suggestion without a call of find.
func (t *tree) suggest(at *yaml.Node, text string, find func() suggestion) suggestion {
	key := misspelling{at, text}
	m, known := t.suggestions[key]
	if !known && len(t.suggestions) < maxHints {
		m = find()
		t.suggestions[key] = m
	}
	return m
}

// DidYouMean returns a hint for a word that is not among the known words: the nearest of
// them if one is near, and otherwise the list of all of them. The hint is "" if there are
// too many to list.
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

// nearest returns the known word that word was probably meant to be; "" if none is near.
func nearest(word string, known []string) string {
	const longest = 64 // a longer word is not a misspelling
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

// editDistance counts the single-letter changes that turn a into b. The exchange of two
// neighbouring letters counts as one change.
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
