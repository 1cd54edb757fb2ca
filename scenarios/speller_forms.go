package scenarios

import (
	"cmp"
	"slices"
	"strings"

	"github.com/locksim/locksim/trace"
)

// synonyms maps words that people use to the words of the grammar of points.
var synonyms = map[string]string{
	"got": "acquired", "gets": "acquired", "get": "acquired", "locked": "acquired", "locks": "acquired", "obtained": "acquired", "granted": "acquired",
	"unlocked": "released", "unlocks": "released", "freed": "released",
	"died": "crashed", "dies": "crashed", "dead": "crashed", "killed": "crashed",
	"stopped": "paused", "stops": "paused", "frozen": "paused", "suspended": "paused",
	"woke": "resumed", "wakes": "resumed", "continued": "resumed", "continues": "resumed",
	"ended": "expired", "ends": "expired", "over": "expired", "gone": "expired",
	"lease": "keys", "lock": "keys",
	"rejected": "refused", "rejects": "refused", "denied": "refused", "accepted": "applied", "accepts": "applied",
	"sent": "flight", "underway": "flight", "delivered": "arrived", "received": "arrived", "landed": "arrived",
	"done": "finished", "fails": "failed", "writes": "wrote", "written": "wrote",
	"response": "reply", "answer": "reply", "beginning": "start", "begin": "start",
}

// fillerWords are words that do not help to recognize a point.
var fillerWords = []string{
	"is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "the", "a", "an", "its", "it", "of", "on", "in", "to", "by", "from", "that",
	"when", "once", "until", "at", "up",
}

// nearestForm fills names into each form, and returns the result that is most similar to a
// text; "" if none is similar enough.
func (s corrector) nearestForm(text string, forms []string) string {
	textWords := s.parseWords(text)
	best, fewest := "", 0
	for _, form := range forms {
		for _, candidate := range s.fillForm(strings.Fields(form), textWords) {
			words := significantWords(candidate)
			matched, cost := matchWords(textWords, words)
			// The candidate must share more words with the text than the two differ in. A name
			// that the candidate has and the text lacks is no difference, because fillForm has
			// guessed that name.
			unmatched := len(textWords) + len(words) - 2*matched
			for _, word := range words {
				if slices.Contains(s.names, word) && !slices.Contains(textWords, word) {
					unmatched--
				}
			}
			if matched <= unmatched {
				continue
			}
			cost = cost*100 + editDistance(strings.ToLower(text), candidate)
			if best == "" || cost < fewest {
				best, fewest = candidate, cost
			}
		}
	}
	return best
}

// fillForm returns all ways to replace the placeholders of a form. For a process it takes
// the names among words that fit, or else the first name of the scenario that fits.
func (s corrector) fillForm(form, words []string) []string {
	results := []string{""}
	for _, word := range form {
		bare, possessive := strings.CutSuffix(word, "'s")
		fits := []string{word}
		if roles, ok := trace.FormRoles(bare); ok {
			fits = s.fittingNames(roles, words)
		} else if steps := trace.FormSteps(bare); len(steps) > 0 {
			fits = toStrings(steps...)
		}
		var next []string
		for _, prefix := range results {
			for _, name := range fits {
				if possessive && name != word {
					name += "'s"
				}
				next = append(next, strings.TrimSpace(prefix+" "+name))
			}
		}
		results = next
	}
	return results
}

// fittingNames returns the names among words that have one of the roles. If there are none,
// it returns the first name of the scenario that has one.
func (s corrector) fittingNames(roles []trace.Role, words []string) []string {
	fits := func(name string) bool {
		role, ok := s.role(name)
		return ok && (len(roles) == 0 || slices.Contains(roles, role))
	}
	var names []string
	for _, word := range words {
		if slices.Contains(s.names, word) && fits(word) && !slices.Contains(names, word) {
			names = append(names, word)
		}
	}
	if i := slices.IndexFunc(s.names, fits); len(names) == 0 && i >= 0 {
		names = s.names[i : i+1]
	}
	return names
}

// significantWords returns the words of a text without filler words and without "'s" at the
// end.
func significantWords(text string) []string {
	var words []string
	for word := range strings.FieldsSeq(text) {
		if word = strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "'"); !slices.Contains(fillerWords, word) {
			words = append(words, word)
		}
	}
	return words
}

// punctuation replaces characters that do not help to recognize a word.
var punctuation = strings.NewReplacer("’", "'", "`", "'", ",", " ", ";", " ", ".", " ", "\"", " ", "in-flight", "in flight")

// parseWords returns the significant words of a text, with names in their correct spelling.
func (s corrector) parseWords(text string) []string {
	fields := significantWords(punctuation.Replace(strings.ToLower(text)))
	var words []string
	for i := 0; i < len(fields); i++ {
		word := fields[i]
		if i+1 < len(fields) && !slices.Contains(s.names, word) { // "client 1" instead of "client-1"
			if name := s.matchName(word + "-" + fields[i+1]); name != "" {
				words = append(words, name)
				i++
				continue
			}
		}
		words = append(words, cmp.Or(s.matchName(word), s.guessMisspelt(word), word))
	}
	return words
}

// withoutDashes returns a name without its dashes and underscores.
func withoutDashes(name string) string { return strings.NewReplacer("-", "", "_", "").Replace(name) }

// matchName returns the name that equals the word, apart from dashes or a final s in place of
// "'s"; "" if there is none.
func (s corrector) matchName(word string) string {
	word = withoutDashes(word)
	for _, name := range s.names {
		if short := withoutDashes(name); word == short || word == short+"s" {
			return name
		}
	}
	return ""
}

// guessMisspelt returns the name that a word was probably meant to be. It returns "" if the
// word is at least as similar to a word of the grammar.
func (s corrector) guessMisspelt(word string) string {
	name := nearest(word, s.names)
	if name == "" || synonyms[word] != "" {
		return ""
	}
	distance := editDistance(word, name)
	for _, form := range slices.Concat(trace.PointForms(), toStrings(trace.Steps()...)) {
		for known := range strings.FieldsSeq(form) {
			if editDistance(word, known) <= distance {
				return ""
			}
		}
	}
	return name
}

// matchWords counts the words of a that are also in b or similar to a word of b, and
// returns the cost of the differences. Each word of b is matched once.
func matchWords(a, b []string) (matched, cost int) {
	remaining := slices.Clone(b)
	var unmatched []string
	take := func(i int) {
		remaining = slices.Delete(remaining, i, i+1)
		matched++
	}
	for _, word := range a {
		if i := slices.Index(remaining, word); i >= 0 {
			take(i)
		} else {
			unmatched = append(unmatched, word)
		}
	}
	for _, word := range unmatched {
		nearestAt, lowest := -1, 0
		for i, other := range remaining {
			if far, near := wordDistance(word, other); near && (nearestAt < 0 || far < lowest) {
				nearestAt, lowest = i, far
			}
		}
		if nearestAt >= 0 {
			take(nearestAt)
			cost += lowest
		} else {
			cost += 4
		}
	}
	return matched, cost + 4*len(remaining)
}

// wordDistance returns the distance between two words, and whether they are near. They are near if
// word is a misspelling of other, is other with another ending, or is a synonym of other.
func wordDistance(word, other string) (distance int, isNear bool) {
	if synonyms[word] == other {
		return 1, true
	}
	distance = editDistance(word, other)
	prefix := 0
	for prefix < min(len(word), len(other)) && word[prefix] == other[prefix] {
		prefix++
	}
	if prefix >= 4 && prefix >= min(len(word), len(other))-2 {
		return min(distance, 2), true
	}
	most := 1
	if len(word) > 3 {
		most = 2
	}
	return distance, distance <= most
}
