package sql

import (
	"strings"
	"unicode/utf8"
)

// A kind is the kind of a token.
type kind uint8

const (
	end           kind = iota // the end of the text
	word                      // an unquoted identifier or keyword, in lower case
	quoted                    // an identifier in double quotes
	stringLiteral             // a literal in single quotes
	integer                   // digits
	decimal                   // digits with a decimal point or an exponent
	param                     // $1: its text is the number
	symbol                    // an operator or punctuation
)

// A token is one word, literal or symbol of a statement.
type token struct {
	kind kind
	text string // what the token means, without quotes
	raw  string // the token as it is written
}

// symbols are the symbols of more than one character, the longer ones first.
var symbols = []string{"::", "<>", "!=", "<=", ">=", "||", "=>", ":=", "<<", ">>"}

// lex splits a text into tokens. The last token has the kind end.
func lex(text string) (all []token) {
	for text != "" {
		n := blank(text)
		if n == 0 {
			var t token
			t, n = next(text)
			t.raw = text[:n]
			all = append(all, t)
		}
		text = text[n:]
	}
	return append(all, token{kind: end})
}

// blank returns the length of the white space or of the comment at the beginning of s. It
// is 0 if there is neither, or if the comment does not end.
func blank(s string) int {
	switch {
	case strings.IndexByte(" \t\r\n\f\v", s[0]) >= 0:
		return 1
	case strings.HasPrefix(s, "--"):
		if i := strings.IndexByte(s, '\n'); i >= 0 {
			return i + 1
		}
		return len(s)
	case strings.HasPrefix(s, "/*"):
		depth := 0
		for i := 0; i+1 < len(s); i++ {
			switch s[i : i+2] {
			case "/*":
				depth++
				i++
			case "*/":
				depth--
				i++
			}
			if depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

func isLetter(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= utf8.RuneSelf }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

// prefixLen returns the number of bytes at the beginning of s for which ok returns true.
func prefixLen(s string, ok func(byte) bool) int {
	for i := range len(s) {
		if !ok(s[i]) {
			return i
		}
	}
	return len(s)
}

// next returns the first token of s and its length.
func next(s string) (token, int) {
	c := s[0]
	switch {
	case strings.HasPrefix(s, "/*"):
		panic(syntaxError("unterminated /* comment at or near \"%s\"", s))
	case (c == 'e' || c == 'E') && strings.HasPrefix(s[1:], "'"):
		panic(Unsupported("strings with backslash escapes"))
	case (c == 'u' || c == 'U') && (strings.HasPrefix(s[1:], "&'") || strings.HasPrefix(s[1:], `&"`)):
		panic(Unsupported("strings and names with Unicode escapes"))
	case isLetter(c):
		n := prefixLen(s, func(c byte) bool { return isLetter(c) || isDigit(c) || c == '$' })
		return token{kind: word, text: lower(s[:n])}, n
	case c == '"':
		text, n := inQuotes(s, c, "identifier")
		return token{kind: quoted, text: text}, n
	case c == '\'':
		text, n := inQuotes(s, c, "string")
		return token{kind: stringLiteral, text: text}, n
	case isDigit(c), c == '.' && len(s) > 1 && isDigit(s[1]):
		return number(s)
	case c == '$':
		n := prefixLen(s[1:], isDigit)
		if n == 0 || n > len("65535") {
			panic(syntaxError("syntax error at or near \"%s\"", s[:1]))
		}
		return token{kind: param, text: s[1 : n+1]}, n + 1
	}
	for _, sym := range symbols {
		if strings.HasPrefix(s, sym) {
			return token{kind: symbol, text: sym}, len(sym)
		}
	}
	return token{kind: symbol, text: s[:1]}, 1
}

// lower converts a word to lower case as PostgreSQL does: only ASCII letters change.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// inQuotes returns the text between the quotes at the beginning of s, and the length with
// the quotes. Two quotes within the text mean one. textKind names the kind of text for
// the error.
func inQuotes(s string, quote byte, textKind string) (text string, size int) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != quote {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == quote {
			b.WriteByte(quote)
			i++
			continue
		}
		return b.String(), i + 1
	}
	panic(syntaxError("unterminated quoted %s at or near \"%s\"", textKind, s))
}

// number returns the number at the beginning of s, and its length.
func number(s string) (token, int) {
	n, tokenKind := prefixLen(s, isDigit), integer
	if n < len(s) && s[n] == '.' {
		tokenKind = decimal
		n += 1 + prefixLen(s[n+1:], isDigit)
	}
	if n < len(s) && s[n]|0x20 == 'e' {
		m := n + 1
		if m < len(s) && (s[m] == '+' || s[m] == '-') {
			m++
		}
		if digits := prefixLen(s[m:], isDigit); digits > 0 {
			tokenKind, n = decimal, m+digits
		}
	}
	if n < len(s) && isLetter(s[n]) {
		panic(syntaxError("trailing junk after numeric literal at or near \"%s\"", s[:n+1]))
	}
	return token{kind: tokenKind, text: s[:n]}, n
}
