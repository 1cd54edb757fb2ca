package redis

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/locksim/locksim/sim"
)

// A framer cuts the bytes that a client writes into commands, as processInputBuffer does in
// https://github.com/redis/redis/blob/7.0/src/networking.c
type framer struct {
	names *sim.Names
	// isBroken reports whether the client has violated the protocol. All later bytes are
	// ignored.
	isBroken bool
}

// A protocolError is the text with which Redis answers a violation of the protocol.
type protocolError string

// Next implements [sim.Framer].
func (f *framer) Next(b []byte) (int, sim.Frame) {
	if f.isBroken {
		return len(b), sim.Frame{Text: "more bytes that are no command"}
	}
	size, args, wrong := readRequest(b)
	if wrong != "" {
		f.isBroken = true
		return len(b), sim.Frame{Body: wrong, Text: "a malformed command"}
	}
	if size == 0 {
		return 0, sim.Frame{}
	}
	return size, sim.Frame{Body: args, Text: describeCommand(f.names, args), Handshake: isHandshake(args)}
}

// Limits of Redis, in bytes. longestLine is PROTO_INLINE_MAX_SIZE. longestValue is the
// default of proto-max-bulk-len, which also limits the length of a value.
const (
	longestLine  = 64 << 10
	longestValue = 512 << 20
)

// readRequest returns the size and the words of the command at the start of b, which must not be
// empty. The size is 0 if the command is not complete yet, or violates the protocol; wrong is the
// error in the second case.
func readRequest(b []byte) (size int, args []string, wrong protocolError) {
	if b[0] != '*' {
		return readInline(b)
	}
	count, size, wrong := readHeader(b, 0, "mbulk count string", "multibulk length", math.MaxInt32)
	start, length := size, 0
	for i := 0; i < count; i++ {
		if length, size, wrong = readHeader(b, size, "bulk count string", "bulk length", longestValue); size == 0 {
			return 0, nil, wrong
		}
		if size += length + len("\r\n"); size > len(b) {
			return 0, nil, ""
		}
	}
	if size == 0 || count <= 0 {
		return size, nil, wrong
	}
	text := string(b[:size]) // the words are substrings of this one copy
	args = make([]string, count)
	for i, at := 0, start; i < count; i++ {
		length, at, _ = readHeader(b, at, "", "", longestValue)
		args[i] = text[at : at+length]
		at += length + len("\r\n")
	}
	return size, args, ""
}

// readHeader reads a line that consists of a sign and a number, such as *3 or $11. The line begins
// at b[offset]; end is where the next line begins. Only the first line of a command may have a sign
// other than $. end is 0 if the line is not complete yet or is wrong. lineName and numberName are
// what Redis's errors call the line and the number; maxNumber is the largest valid number.
func readHeader(b []byte, offset int, lineName, numberName string, maxNumber int64) (n, end int, wrong protocolError) {
	rest := b[offset:]
	eol := strchr(rest, '\r')
	switch {
	case eol < 0 && len(rest) > longestLine:
		return 0, 0, protocolError("too big " + lineName)
	case eol < 0, eol+1 == len(rest):
		return 0, 0, ""
	case offset > 0 && rest[0] != '$':
		return 0, 0, protocolError("expected '$', got '" + strings.NewReplacer("\r", " ", "\n", " ").Replace(string(rest[:1])) + "'")
	}
	v, ok := parseInteger(string(rest[1:eol]))
	if !ok || v > maxNumber || offset > 0 && v < 0 {
		return 0, 0, protocolError("invalid " + numberName)
	}
	return int(max(v, 0)), offset + eol + len("\r\n"), ""
}

// strchr returns the index of c in b, or -1. Like C's strchr, it stops at a zero byte.
func strchr(b []byte, c byte) int {
	i := bytes.IndexByte(b, c)
	if i >= 0 && bytes.IndexByte(b[:i], 0) >= 0 {
		return -1
	}
	return i
}

// readInline reads a command that is written on one line, as people type it. Its results mean the
// same as those of readRequest.
func readInline(b []byte) (size int, args []string, wrong protocolError) {
	eol := strchr(b, '\n')
	switch {
	case eol < 0 && len(b) > longestLine:
		return 0, nil, "too big inline request"
	case eol < 0:
		return 0, nil, ""
	}
	args, ok := splitWords(strings.TrimSuffix(string(b[:eol]), "\r"))
	if !ok {
		return 0, nil, "unbalanced quotes in request"
	}
	return eol + 1, args, ""
}

// splitWords splits a line into words, which may be quoted: sdssplitargs of Redis. ok is
// false if a quote is not closed, or if no blank follows a closing quote.
func splitWords(line string) (words []string, ok bool) {
	const blanks = " \t\n\v\f\r"
	for {
		if line = strings.TrimLeft(line, blanks); line == "" {
			return words, true
		}
		var word []byte
		for line != "" && !strings.Contains(" \t\n\r", line[:1]) {
			c := line[0]
			line = line[1:]
			if c != '"' && c != '\'' {
				word = append(word, c)
				continue
			}
			for line != "" && line[0] != c {
				next, size := unescape(line, c)
				word, line = append(word, next), line[size:]
			}
			if line == "" || len(line) > 1 && !strings.Contains(blanks, line[1:2]) {
				return nil, false
			}
			line = line[1:]
			break
		}
		words = append(words, string(word))
	}
}

// unescape returns the first character of a quoted text, and how many bytes of the text
// encode it: several for an escape such as \n.
func unescape(text string, quote byte) (c byte, size int) {
	if text[0] != '\\' || len(text) == 1 || quote == '\'' && text[1] != quote {
		return text[0], 1
	}
	if quote == '"' && text[1] == 'x' && len(text) > 3 {
		if v, err := strconv.ParseUint(text[2:4], 16, 8); err == nil {
			return byte(v), 4
		}
	}
	if i := strings.IndexByte("nrtba", text[1]); quote == '"' && i >= 0 {
		return "\n\r\t\b\a"[i], 2
	}
	return text[1], 2
}
