package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// setsName returns the name for sets of the given number of faults.
func setsName(faults int) string {
	switch faults {
	case 1:
		return "single faults"
	case 2:
		return "pairs"
	case 3:
		return "triples"
	}
	return fmt.Sprintf("sets of %d faults", faults)
}

// WorldsTried says how many worlds a search tried, and how many of these it ran. The search
// does not run a world that is certain to behave like one that it ran.
func WorldsTried(tried, run int) string {
	words := story.Count(tried, "world") + " tried, "
	if run == tried {
		return words + "all of them run"
	}
	return words + story.Thousands(run) + " of them run"
}

// triedWords says how many sets of faults were tried out of all sets: "all 8,934 single
// faults", "20,000 of 17,912,345 pairs".
func triedWords(l explore.Level) string {
	total := story.Thousands(l.Space) + " " + setsName(l.Faults)
	switch n := l.Sets(); {
	case l.Estimated && n > 0:
		return "about " + story.Thousands(n) + " of " + total
	case n == l.Space:
		return "all " + total
	case n == 0:
		return "none of " + total
	default:
		return story.Thousands(n) + " of " + total
	}
}

// inWorlds says in how many worlds the sets of a level were tried. A level consists of all
// sets with the same number of faults. It returns "" if each set was tried in one world.
func inWorlds(l explore.Level) string {
	if l.Duplicates == 0 {
		return ""
	}
	return " in " + story.Count(l.Tried, "world")
}

// coverage returns a remark for each number of faults: how many sets were tried, and what
// broke.
func coverage(r *explore.Result) []remark {
	points := 0
	for _, b := range r.Bases {
		points += b.Points
	}
	var rows []remark
	for _, l := range r.Levels {
		var words []string
		switch {
		case l.Faults == 0:
			words = append(words, story.Count(l.Tried, "world")+" without any fault")
		case l.Faults == 1 && l.Tried == l.Space:
			words = append(words, fmt.Sprintf("every single fault at each of %s: %s", story.Count(points, "point"), story.Count(l.Tried, "world")))
		default:
			words = append(words, triedWords(l)+" tried"+inWorlds(l))
		}
		if l.Repeats > 0 {
			words = append(words, fmt.Sprintf("%s of these were run, and each of the other %s only repeats one of these", story.Thousands(l.RunCount()), story.Thousands(l.Repeats)))
		}
		if l.Kinds > 0 {
			words[0] += fmt.Sprintf(", %s of %s kinds of %s", story.Thousands(l.KindsTried), story.Thousands(l.Kinds), setsName(l.Faults))
		}
		switch {
		case l.Tried == 0:
		case l.Broke == 0:
			words = append(words, "nothing broke")
		case l.BrokeFenced == 0:
			words = append(words, fmt.Sprintf("something broke in %s, and in none with fencing tokens", story.Thousands(l.Broke)))
		case l.BrokeFenced == l.Broke:
			words = append(words, fmt.Sprintf("something broke in %s, in each also with fencing tokens", story.Thousands(l.Broke)))
		default:
			words = append(words, fmt.Sprintf("something broke in %s, and in %s of these also with fencing tokens", story.Thousands(l.Broke), story.Thousands(l.BrokeFenced)))
		}
		if l.BrokeFenced > 0 && !corruptsFenced.isIn(l.Damage) {
			words[len(words)-1] += " (but never the data)"
		}
		if l.Doubtful > 0 {
			words = append(words, inconclusive(l.Doubtful, "")+", for example because a fault found nothing to act on")
		}
		if l.Behaviours > 0 {
			words = append(words, story.Count(l.Behaviours, "new behaviour"))
		}
		rows = append(rows, remarkOn(story.Count(l.Faults, "fault"), strings.Join(words, "; ")))
	}
	return rows
}

// countWords says how many worlds were tried, and which worlds this number leaves out.
func countWords(r *explore.Result) string {
	words := WorldsTried(r.Worlds, r.RunCount()) + ". "
	if n := r.Parts; n > 0 {
		words += fmt.Sprintf("%s of these try a larger set of faults without one of its faults, for comparison. ", story.Thousands(n))
	}
	return words + "The count leaves out worlds without faults, and worlds that were run to shrink a way, to measure it or to draw the danger map."
}

// kindsWords explains the kinds of sets of faults; "" if the report does not mention them.
func kindsWords(r *explore.Result) string {
	if slices.ContainsFunc(r.Levels, func(l explore.Level) bool { return l.Kinds > 0 }) {
		return "Faults that lead to the same behaviour count as one kind."
	}
	return ""
}

// A harm is a sort of damage of which the report says whether the search found it.
type harm struct {
	// predicate completes a sentence whose subject is a fault: "corrupts the data …".
	predicate string
	// matches reports whether one entry of a world's damage is this harm.
	matches func(explore.Harm) bool
	// dataFencing says in which run the data is harmed, by the fencing of the run; "" if
	// the harm is not about data.
	dataFencing string
}

// dataHarm returns the harm to the data in the run with the given fencing.
func dataHarm(predicate, fencing string) harm {
	return harm{predicate, func(h explore.Harm) bool { return h.Fencing == fencing && checks.Property(h.What).IsData() }, fencing}
}

// corruptsFenced is the worst harm: fencing tokens do not prevent it.
var corruptsFenced = dataHarm("corrupts the data when the storage checks fencing tokens", runs.FencingOn)

// harms are all sorts of damage that a report mentions, the worst first.
var harms = []harm{
	corruptsFenced,
	{"makes the lock itself misbehave", func(h explore.Harm) bool { return h.Blame == checks.BlameLock }, ""},
	{"makes the lock grant two leases at the same time", func(h explore.Harm) bool { return h.What == string(checks.LeaseExclusion) }, ""},
	dataHarm("corrupts the data even without fencing tokens", runs.FencingOff),
}

// isIn reports whether a world's damage includes the harm.
func (h harm) isIn(e explore.Damage) bool { return slices.ContainsFunc(e, h.matches) }

// inExample reports whether the example of a way, which is the smallest world of the way,
// shows the harm.
func (h harm) inExample(w explore.Way) bool { return h.isIn(w.Damage) }

// onMap reports whether a danger map shows the harm. The worlds of a danger map are in none of
// the levels, because the pauses on a map have other lengths than the pauses that the search
// tries.
func (h harm) onMap(maps []explore.DangerMap) bool {
	corrupted := func(row []explore.Danger) bool { return slices.Contains(row, explore.Corrupted) }
	return slices.ContainsFunc(maps, func(m explore.DangerMap) bool {
		return m.Fencing == h.dataFencing && slices.ContainsFunc(m.Cells, corrupted)
	})
}

// An absence is a sentence about a harm that was not found.
type absence struct {
	text string
	// isFirm reports whether readers can rely on the sentence: at least all single faults
	// were tried, and nothing else in the report contradicts it.
	isFirm bool
}

// notFound lists the harms that were not found, with the worlds that were tried.
func notFound(r *explore.Result) []absence {
	if len(r.Ways)+len(r.RanOn) == 0 && r.First == 0 && !slices.ContainsFunc(harms, func(h harm) bool { return h.onMap(r.Maps) }) {
		return []absence{{"Nothing broke, without fencing tokens or with them" + triedNote(r, r.Levels) + ".", triedAllSingles(r)}}
	}
	var all []absence
	for _, h := range harms {
		if sentence := h.describeAbsence(r); sentence != "" {
			if h.onMap(r.Maps) {
				sentence += " But a pause in the danger map does."
			}
			all = append(all, absence{sentence, triedAllSingles(r) && !h.onMap(r.Maps)})
		}
	}
	return all
}

// describeAbsence says how many faults the harm requires at least. It returns "" if a
// single fault causes the harm, or if it happens without faults. It considers all tried
// worlds, because a world can show the harm without being the example of a way.
func (h harm) describeAbsence(r *explore.Result) string {
	doubt := ""
	if slices.ContainsFunc(r.RanOn, h.inExample) {
		doubt = ", except for the ways listed separately"
	}
	faults, found := h.fewest(r)
	if !found {
		return "No fault that was tried " + h.predicate + doubt + triedNote(r, r.Levels) + "."
	}
	fewer := slices.DeleteFunc(slices.Clone(r.Levels), func(l explore.Level) bool { return l.Faults >= faults })
	if faults < 2 || triedNote(r, fewer) == "" {
		return ""
	}
	subject := "No single fault "
	if faults > 2 {
		subject = fmt.Sprintf("No set of fewer than %d faults ", faults)
	}
	if !isExhaustive(fewer) {
		subject += "that was tried "
	}
	sentence := fmt.Sprintf("%s%s%s%s. It takes %d faults", subject, h.predicate, doubt, triedNote(r, fewer), faults)
	if ways := h.examples(r.Ways, faults); ways != "" {
		sentence += ": see " + ways
	}
	return sentence + "."
}

// fewest returns the smallest number of faults that caused the harm. It considers the tried
// worlds and the examples of ways. An example was made smaller after the search, so it can
// have fewer faults than any tried world.
func (h harm) fewest(r *explore.Result) (faults int, found bool) {
	consider := func(n int) {
		if !found || n < faults {
			faults, found = n, true
		}
	}
	for _, l := range r.Levels {
		if h.isIn(l.Damage) {
			consider(l.Faults)
		}
	}
	for _, w := range r.Ways {
		if h.inExample(w) {
			consider(len(w.Example.Faults))
		}
	}
	return faults, found
}

// examples lists the ways whose examples show the harm with exactly the given number of
// faults: "way 1", "ways 1 and 2"; "" for none.
func (h harm) examples(ways []explore.Way, faults int) string {
	var numbers []string
	for i, w := range ways {
		if h.inExample(w) && len(w.Example.Faults) == faults {
			numbers = append(numbers, strconv.Itoa(i+1))
		}
	}
	switch len(numbers) {
	case 0:
		return ""
	case 1:
		return "way " + numbers[0]
	}
	return "ways " + story.List(numbers)
}

// inconclusive says that n worlds are inconclusive. suffix follows the number: with " that" the
// result is "3 that are inconclusive".
func inconclusive(n uint64, suffix string) string {
	if n == 1 {
		return "1" + suffix + " is inconclusive"
	}
	return story.Thousands(n) + suffix + " are inconclusive"
}

// isExhaustive reports whether all sets of faults of the levels were tried. It returns
// false if the number of tried sets is only an estimate.
func isExhaustive(levels []explore.Level) bool {
	return !slices.ContainsFunc(levels, func(l explore.Level) bool { return l.Untried() > 0 || l.Estimated })
}

// triedNote says on which worlds a sentence is based: " (tried: all 8,934 single faults and
// 20,000 of 17,912,345 pairs)". If the search was limited to some kinds of faults, the note
// names them. It returns "" if nothing was tried.
func triedNote(r *explore.Result, levels []explore.Level) string {
	var words []string
	for _, l := range levels {
		if l.Faults > 0 && l.Tried > 0 {
			text := triedWords(l) + inWorlds(l)
			if l.Doubtful > 0 {
				text += " except " + inconclusive(l.Doubtful, " that")
			}
			words = append(words, text)
		}
	}
	if len(words) == 0 {
		return ""
	}
	kinds := ""
	if !r.Kinds.IsZero() {
		kinds = "; of the kinds of faults " + r.Kinds.String()
	}
	return " (tried: " + story.List(words) + sizesWords(r) + kinds + ")"
}

// sizesWords says how large the tried faults were; "" if that is not known.
func sizesWords(r *explore.Result) (words string) {
	if len(r.Lengths) > 0 {
		words += "; faults of " + listOf(r.Lengths, trace.ShortDuration)
	}
	if len(r.Rates) > 0 {
		words += "; clocks that drift by " + listOf(r.Rates, func(rate sim.Rate) string { return sim.Size{Rate: rate}.String() })
	}
	return words
}

// listOf lists values in words.
func listOf[E any](all []E, text func(E) string) string {
	var words []string
	for _, e := range all {
		words = append(words, text(e))
	}
	return story.List(words)
}

// notCovered says which faults the search does not try.
func notCovered(r *explore.Result) string {
	var kinds []string
	for _, k := range sim.FaultKinds() {
		if k.NotTried != "" {
			kinds = append(kinds, fmt.Sprintf("%s (%s)", k.Name, k.NotTried))
		}
	}
	return fmt.Sprintf("The search does not cover faults of other sizes, other workloads, or more than %s at once. No search tries the kinds %s.",
		story.Count(r.MaxFaults, "fault"), story.List(kinds))
}

// triedAllSingles reports whether a search tried every single fault.
func triedAllSingles(r *explore.Result) bool {
	single := slices.DeleteFunc(slices.Clone(r.Levels), func(l explore.Level) bool { return l.Faults != 1 })
	return len(single) > 0 && isExhaustive(single)
}
