package story

import (
	"strings"

	"github.com/locksim/locksim/checks"
)

// Voice is how a story tells what checks found: with times and tokens as its timeline has
// them, so that one finds them there.
var Voice = checks.Voice{Time: Time, Token: func(t checks.Token) string { return Token(uint64(t)) }}

// InLengths is how a story tells what a run took: each time is a length.
var InLengths = checks.Voice{Time: Span, Token: Voice.Token}

// Told tells reasons, one after the other.
func Told(reasons ...checks.Reason) Raw { return Raw(told(reasons...)) }

func told(reasons ...checks.Reason) string {
	words := make([]string, len(reasons))
	for i, r := range reasons {
		words[i] = r.Told(Voice)
	}
	return strings.Join(words, "; ")
}

// Sentence makes one of words that others have: it begins with a capital letter and ends.
func Sentence(words string) Raw {
	if words != "" && 'a' <= words[0] && words[0] <= 'z' {
		words = string(words[0]-'a'+'A') + words[1:]
	}
	return Raw(fullStop(words))
}

// fullStop makes of what is to be said a sentence that ends.
func fullStop(says string) string { return strings.TrimRight(says, ".") + "." }
