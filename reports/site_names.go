package reports

import (
	"strconv"
	"strings"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/scenarios"
)

// pageNames contains the file names that are already used in a folder. A name is unique,
// and safe on every file system and in every address. The same pages in the same order get
// the same names.
type pageNames map[string]bool

// name returns a new name that consists of the given words, without an extension.
func (taken pageNames) name(words ...string) string {
	base := slugged(words)
	name := base
	for n := 2; taken[name]; n++ {
		name = base + "-" + strconv.Itoa(n)
	}
	taken[name] = true
	return name
}

// runWords returns the words for the file name of a run.
func runWords(r *scenarios.Result, run scenarios.RunResult) []string {
	return []string{r.Scenario.Name, run.Variant.Name, "fencing", run.Fencing}
}

// longestSlug is the length in characters to which a name is shortened. On most systems the
// name of a file can have about 250. Each word keeps at least shortestWord characters, so
// the result can still be longer.
const longestSlug, shortestWord = 80, 16

var (
	notInSlugs = lazy.Regexp(`[^a-z0-9]+`)
	// devices are names that Windows reserves, also with an extension.
	devices = lazy.Regexp(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)
)

// slugged joins words to a name of small letters, digits and hyphens: "../GC Pause" becomes
// "gc-pause". If the name is too long, it shortens the first words, because the last words
// distinguish files of the same scenario.
func slugged(words []string) string {
	var slugs []string
	excess := -1 - longestSlug
	for _, w := range words {
		if w = strings.Trim(notInSlugs().ReplaceAllString(strings.ToLower(w), "-"), "-"); w != "" {
			slugs = append(slugs, w)
			excess += len(w) + 1
		}
	}
	for i, w := range slugs {
		cut := min(max(excess, 0), max(len(w)-shortestWord, 0))
		slugs[i] = strings.TrimRight(w[:len(w)-cut], "-")
		excess -= cut
	}
	s := strings.Join(slugs, "-")
	if s == "" || devices().MatchString(s) {
		s = strings.TrimRight("page-"+s, "-")
	}
	return s
}
