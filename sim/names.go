package sim

import (
	"strconv"
	"strings"
)

// Names replaces random words in the trace of a world by names that are the same in every
// run. For example, the first random value of a lock becomes value-1, and the second
// value-2. Libraries draw such values from crypto/rand, so without the names no two runs
// would have equal traces.
type Names struct {
	// aliases maps random words to their names. counts is how many names begin with each
	// word, such as value. lockKeys are the keys of the world's locks.
	aliases  map[string]string
	counts   map[string]int
	lockKeys map[string]bool
}

// Value returns the form in which the trace shows a word of a command. A word that looks random
// becomes value-1, value-2 and so on; any other word stays.
func (n *Names) Value(word string) string {
	if isPlain(word) {
		return word
	}
	return n.Name("value", word)
}

// Name returns the name of a random word: kind and a number, such as session-1. The same
// word always gets the same name.
func (n *Names) Name(kind, word string) string {
	if name, ok := n.aliases[word]; ok {
		return name
	}
	n.counts[kind]++
	name := kind + "-" + strconv.Itoa(n.counts[kind])
	n.aliases[word] = name
	return name
}

// IsKey reports whether a word is the key of a lock of the world.
func (n *Names) IsKey(word string) bool { return n.lockKeys[word] }

// NewNames returns names in which no word has a name yet. keys are the keys of the world's
// locks.
func NewNames(keys ...string) *Names {
	n := &Names{aliases: map[string]string{}, counts: map[string]int{}, lockKeys: map[string]bool{}}
	for _, key := range keys {
		n.lockKeys[key] = true
	}
	return n
}

// isPlain reports whether a word does not look random, so that the trace can show it unchanged.
// Locks use random values of at least 16 characters in hex or base64, which contain digits or
// letters of both cases. So a printable word is plain if it is shorter than 16 characters, or if it
// has letters of only one case and no digits. crypto/rand.Text may return 26 capital letters and no
// digit. So a word of 26 or more capital letters is plain only if it contains a separator such as a
// hyphen.
func isPlain(s string) bool {
	lower, upper := false, false
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c > '~':
			return false
		case 'a' <= c && c <= 'z':
			lower = true
		case 'A' <= c && c <= 'Z':
			upper = true
		case len(s) >= 16 && c != '_' && c != '-' && c != ' ' && c != ':' && c != '.':
			return false
		}
	}
	return len(s) < 16 || lower != upper && !(upper && len(s) >= 26 && !strings.ContainsAny(s, "_- :."))
}
