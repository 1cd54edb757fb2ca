package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The runs of a scenario on the first seed have a line each, in clear as far as there
// is room. On the other seeds those of a variant with a lock share a line, which has
// digests of them.

// group makes the item of all runs of a setup. runs has those without fencing tokens and
// those with them, both in the order of the seeds.
func group(part string, s setup, seeds span, runs [2][]item) item {
	g := item{part: part, key: s.groupKey(seeds)}
	first := runs[0][0]
	for _, f := range first.facts {
		var values [2][]string
		for i := range runs {
			for _, run := range runs[i] {
				values[i] = append(values[i], run.fact(f.name))
			}
		}
		switch f.name {
		case factVerdict:
			g.facts = append(g.facts, fact{f.name, counted(values[0]) + "/" + counted(values[1])})
		case factViolated: // it is in what is judged
		default:
			g.facts = append(g.facts, fact{f.name, digest(values)})
		}
	}
	marks := ""
	for i := range runs[0] {
		marks += digest(fmt.Sprint(runs[0][i].facts, runs[1][i].facts))[:markSize]
	}
	g.facts = append(g.facts, fact{factMarks, marks})
	return g
}

// A key ends with these flags, with the first only if it is that of one run.
const (
	fencingFlag = " --fencing "
	seedFlag    = " --seed "
)

// factMarks holds, for each of the seeds, the beginning of a digest of all the facts of
// the two runs on it: enough to say on which seeds two groups differ. That they differ the
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

// differing are the seeds on which two groups differ, as far as their marks tell.
func differing(a, b item) []uint64 {
	s, ok := a.span()
	ma, mb := a.fact(factMarks), b.fact(factMarks)
	if !ok || ma == "" || len(ma) != len(mb) || len(ma) != markSize*len(s.seeds()) {
		return nil
	}
	var differ []uint64
	for i, seed := range s.seeds() {
		if at := i * markSize; ma[at:at+markSize] != mb[at:at+markSize] {
			differ = append(differ, seed)
		}
	}
	return differ
}

// span are the seeds of a group.
func (i item) span() (span, bool) {
	_, seeds, ok := strings.Cut(i.key, seedFlag)
	if !ok || i.fact(factMarks) == "" {
		return span{}, false
	}
	s, err := parseSpan(seeds)
	return s, err == nil
}

// on is the key of what a group has on one seed: both runs, or that without fencing
// tokens or with them.
func (i item) on(fencing string, seed uint64) string {
	command, _, _ := strings.Cut(i.key, seedFlag)
	if fencing != "" {
		command += fencingFlag + fencing
	}
	return command + seedFlag + strconv.FormatUint(seed, 10)
}
