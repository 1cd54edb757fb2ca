package reports

import (
	"strconv"
	"strings"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/scenarios"
)

// pageNames gives out the names of a folder's files: safe on every file system and in
// every address, and no two alike. A name is the first that is free, so the same pages
// in the same order get the same names.
type pageNames map[string]bool

// name is a new name that reads like words, without an ending.
func (taken pageNames) name(words ...string) string {
	base := slugged(words)
	name := base
	for n := 2; taken[name]; n++ {
		name = base + "-" + strconv.Itoa(n)
	}
	taken[name] = true
	return name
}

// runWords name a run's file.
func runWords(r *scenarios.Result, run scenarios.Outcome) []string {
	return []string{r.Scenario.Name, run.Variant.Name, "fencing", run.Fencing}
}

// longestSlug is about how many letters of a name are kept: a file's name can have some
// 250 on most systems. shortestWord is how many of a word stay in any case.
const longestSlug, shortestWord = 80, 16

var (
	notInSlugs = lazy.Regexp(`[^a-z0-9]+`)
	// devices are names that Windows keeps for itself, whatever their ending.
	devices = lazy.Regexp(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)
)

// slugged are words as a name in small letters, digits and hyphens: "../GC Pause" is
// "gc-pause". What is too long is cut off the first words: the last ones tell files of
// the same scenario apart.
func slugged(words []string) string {
	var slugs []string
	over := -1 - longestSlug
	for _, w := range words {
		if w = strings.Trim(notInSlugs().ReplaceAllString(strings.ToLower(w), "-"), "-"); w != "" {
			slugs = append(slugs, w)
			over += len(w) + 1
		}
	}
	for i, w := range slugs {
		off := min(max(over, 0), max(len(w)-shortestWord, 0))
		slugs[i] = strings.TrimRight(w[:len(w)-off], "-")
		over -= off
	}
	s := strings.Join(slugs, "-")
	if s == "" || devices().MatchString(s) {
		s = strings.TrimRight("page-"+s, "-")
	}
	return s
}
