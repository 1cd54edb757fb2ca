package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The runs of a scenario on the first seed have a line each, in clear as far as there
// is room. On the other seeds those that differ in nothing but the seed share a line,
// which has digests of theirs.

// group makes the item of runs that differ in nothing but the seed, in the order of
// their seeds. Their keys end with " --seed N", its own with all of the seeds.
func group(part, seeds string, runs []item) item {
	command, _, _ := strings.Cut(runs[0].key, seedFlag)
	g := item{part: part, key: command + seedFlag + seeds}
	for _, f := range runs[0].facts {
		var values []string
		for _, run := range runs {
			values = append(values, run.fact(f.name))
		}
		var value string
		switch f.name {
		case factVerdict:
			value = counted(values)
		case factViolated:
			continue // it is in what is judged
		default:
			value = digest(values)
		}
		g.facts = append(g.facts, fact{f.name, value})
	}
	marks := ""
	for _, run := range runs {
		marks += digest(fmt.Sprint(run.facts))[:markSize]
	}
	g.facts = append(g.facts, fact{factMarks, marks})
	return g
}

const seedFlag = " --seed "

// factMarks holds, for each of the seeds, the beginning of a digest of all the facts of
// the run on it: enough to say on which seeds two groups differ. That they differ the
// other facts say.
const factMarks = "by-seed"

const markSize = 3

// counted lists words, each once, with how often it is there if there is another.
func counted(words []string) string {
	count := map[string]int{}
	var once []string
	for _, w := range words {
		if count[w]++; count[w] == 1 {
			once = append(once, w)
		}
	}
	slices.Sort(once)
	if len(once) == 1 {
		return once[0]
	}
	for i, w := range once {
		once[i] = fmt.Sprintf("%s:%d", w, count[w])
	}
	return listed(once)
}

// A span is the seeds from one to another.
type span struct{ first, last uint64 }

// parseSpan reads "7" and "2-20".
func parseSpan(text string) (span, error) {
	from, to, several := strings.Cut(text, "-")
	if !several {
		to = from
	}
	first, err := strconv.ParseUint(from, 10, 64)
	last, err2 := strconv.ParseUint(to, 10, 64)
	if err != nil || err2 != nil || first > last || last-first >= mostSeeds {
		return span{}, fmt.Errorf("seeds are %q; write one, or the first and the last of at most %d, as in 1-20", text, mostSeeds)
	}
	return span{first, last}, nil
}

// mostSeeds bounds the seeds of one baseline.
const mostSeeds = 1000

func (s span) String() string {
	if s.first == s.last {
		return strconv.FormatUint(s.first, 10)
	}
	return fmt.Sprintf("%d-%d", s.first, s.last)
}

func (s span) seeds() []uint64 {
	var all []uint64
	for n := s.first; ; n++ {
		all = append(all, n)
		if n == s.last {
			return all
		}
	}
}

// differing are the keys of the runs in which two groups differ, as far as their marks
// tell.
func differing(a, b item) []string {
	command, seeds, grouped := strings.Cut(a.key, seedFlag)
	if !grouped {
		return nil
	}
	s, err := parseSpan(seeds)
	ma, mb := a.fact(factMarks), b.fact(factMarks)
	if err != nil || ma == "" || len(ma) != len(mb) || len(ma) != markSize*len(s.seeds()) {
		return nil
	}
	var keys []string
	for i, seed := range s.seeds() {
		if at := i * markSize; ma[at:at+markSize] != mb[at:at+markSize] {
			keys = append(keys, command+seedFlag+strconv.FormatUint(seed, 10))
		}
	}
	return keys
}
