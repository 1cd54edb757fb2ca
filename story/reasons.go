package story

import "github.com/locksim/locksim/checks"

// InLengths is how a story tells what a run took: each time is a length.
var InLengths = checks.Voice{Time: Span, Token: Voice.Token}

// Voice is how a story tells what checks found: with times and tokens as its timeline has
// them, so that one finds them there.
var Voice = checks.Voice{Time: figure, Token: func(t checks.Token) string { return Token(uint64(t)) }}
