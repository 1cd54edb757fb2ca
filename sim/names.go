package sim

import "strconv"

// Names are the names that a world gives to random words in its trace. They are numbered in
// the order in which the words are seen: the first value of a lock is value-1. Without
// them, no two runs of a library that draws its values from crypto/rand would have equal
// traces.
type Names struct {
	aliases map[string]string
	count   map[string]int // by prefix
	keys    map[string]bool
}

// Value returns a word as people see it: a short printable word or a number unchanged, and
// any other word by its name.
func (n *Names) Value(word string) string {
	if isPlain(word) {
		return word
	}
	return n.Name("value", word)
}

// Name returns the name of a word: what it is, and a number.
func (n *Names) Name(what, word string) string {
	if name, ok := n.aliases[word]; ok {
		return name
	}
	n.count[what]++
	name := what + "-" + strconv.Itoa(n.count[what])
	n.aliases[word] = name
	return name
}

// IsKey reports whether a lock of the world is kept under a key.
func (n *Names) IsKey(word string) bool { return n.keys[word] }

// NewNames returns the names of a world in which no word has been seen yet, and whose locks
// are kept under the given keys.
func NewNames(keys ...string) *Names {
	n := &Names{aliases: map[string]string{}, count: map[string]int{}, keys: map[string]bool{}}
	for _, key := range keys {
		n.keys[key] = true
	}
	return n
}

// isPlain reports whether a word can be shown unchanged: it is printable, and short or in
// letters of one case. Random values that locks use are at least 16 characters long, and in
// hex or base64, which have digits or both cases.
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
	return len(s) < 16 || lower != upper
}
