package scenarios

import (
	"cmp"
	"slices"
	"strings"

	"github.com/locksim/locksim/trace"
)

// otherWords are what people say for the words of points.
var otherWords = map[string]string{
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

// fillers are words without which a point says the same.
var fillers = []string{
	"is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "the", "a", "an", "its", "it", "of", "on", "in", "to", "by", "from", "that",
	"when", "once", "until", "at", "up",
}

// nearestForm fills names into the forms and finds the one that says the most like a
// text; "" if none says enough of it.
func (s speller) nearestForm(text string, forms []string) string {
	said := s.wordsSaid(text)
	best, fewest := "", 0
	for _, form := range forms {
		for _, candidate := range s.filled(strings.Fields(form), said) {
			words := significant(candidate)
			matched, cost := compare(said, words)
			// What is said and what is proposed have more in common than not; the
			// name of the first to come to mind may be left out.
			unmatched := len(said) + len(words) - 2*matched
			for _, word := range words {
				if slices.Contains(s.names, word) && !slices.Contains(said, word) {
					unmatched--
				}
			}
			if matched <= unmatched {
				continue
			}
			cost = cost*100 + edits(strings.ToLower(text), candidate)
			if best == "" || cost < fewest {
				best, fewest = candidate, cost
			}
		}
	}
	return best
}

// filled are the ways to fill the names that are said into a form, one after the other;
// where none is said that fits, the first of the story.
func (s speller) filled(form, said []string) []string {
	ways := []string{""}
	for _, word := range form {
		bare, possessive := strings.CutSuffix(word, "'s")
		fits := []string{word}
		if roles, ok := trace.FormRoles(bare); ok {
			fits = s.fitting(roles, said)
		} else if steps := trace.FormSteps(bare); len(steps) > 0 {
			fits = texts(steps...)
		}
		var next []string
		for _, way := range ways {
			for _, name := range fits {
				if possessive && name != word {
					name += "'s"
				}
				next = append(next, strings.TrimSpace(way+" "+name))
			}
		}
		ways = next
	}
	return ways
}

// fitting are the names that are said and of these roles, or else the first that is.
func (s speller) fitting(roles []trace.Role, said []string) []string {
	fits := func(name string) bool {
		role, ok := s.role(name)
		return ok && (len(roles) == 0 || slices.Contains(roles, role))
	}
	var names []string
	for _, word := range said {
		if slices.Contains(s.names, word) && fits(word) && !slices.Contains(names, word) {
			names = append(names, word)
		}
	}
	if i := slices.IndexFunc(s.names, fits); len(names) == 0 && i >= 0 {
		names = s.names[i : i+1]
	}
	return names
}

// significant are the words of a text that say something, without the endings of
// possessives.
func significant(text string) []string {
	var words []string
	for word := range strings.FieldsSeq(text) {
		if word = strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "'"); !slices.Contains(fillers, word) {
			words = append(words, word)
		}
	}
	return words
}

var punctuation = strings.NewReplacer("’", "'", "`", "'", ",", " ", ";", " ", ".", " ", "\"", " ", "in-flight", "in flight")

// wordsSaid are the words of what somebody wrote, with the names as the story has them.
func (s speller) wordsSaid(text string) []string {
	fields := significant(punctuation.Replace(strings.ToLower(text)))
	var words []string
	for i := 0; i < len(fields); i++ {
		word := fields[i]
		if i+1 < len(fields) && !slices.Contains(s.names, word) { // "client 1"
			if name := s.named(word + "-" + fields[i+1]); name != "" {
				words = append(words, name)
				i++
				continue
			}
		}
		words = append(words, cmp.Or(s.named(word), s.misspelt(word), word))
	}
	return words
}

// squeezed is a name without its dashes.
func squeezed(name string) string { return strings.NewReplacer("-", "", "_", "").Replace(name) }

// named is the name that a word is but for its dashes, or for an s where 's was meant.
func (s speller) named(word string) string {
	word = squeezed(word)
	for _, name := range s.names {
		if short := squeezed(name); word == short || word == short+"s" {
			return name
		}
	}
	return ""
}

// misspelt is the name that a word was probably meant to be, if it is no other word of
// points and nearer to none.
func (s speller) misspelt(word string) string {
	name := nearest(word, s.names)
	if name == "" || otherWords[word] != "" {
		return ""
	}
	far := edits(word, name)
	for _, form := range slices.Concat(trace.PointForms(), texts(trace.Steps()...)) {
		for known := range strings.FieldsSeq(form) {
			if edits(word, known) <= far {
				return ""
			}
		}
	}
	return name
}

// compare counts the words of a that are words of b, or nearly, and what that costs:
// each word counts once.
func compare(a, b []string) (matched, cost int) {
	left := slices.Clone(b)
	var rest []string
	take := func(i int) {
		left = slices.Delete(left, i, i+1)
		matched++
	}
	for _, word := range a {
		if i := slices.Index(left, word); i >= 0 {
			take(i)
		} else {
			rest = append(rest, word)
		}
	}
	for _, word := range rest {
		nearestAt, fewest := -1, 0
		for i, other := range left {
			if far, near := apart(word, other); near && (nearestAt < 0 || far < fewest) {
				nearestAt, fewest = i, far
			}
		}
		if nearestAt >= 0 {
			take(nearestAt)
			cost += fewest
		} else {
			cost += 4
		}
	}
	return matched, cost + 4*len(left)
}

// apart says how far two words are apart, and whether one can be meant by the other: it
// is misspelt, has another ending, or is another word for it.
func apart(word, other string) (far int, near bool) {
	if otherWords[word] == other {
		return 1, true
	}
	far = edits(word, other)
	same := 0
	for same < min(len(word), len(other)) && word[same] == other[same] {
		same++
	}
	if same >= 4 && same >= min(len(word), len(other))-2 {
		return min(far, 2), true
	}
	most := 1
	if len(word) > 3 {
		most = 2
	}
	return far, far <= most
}
