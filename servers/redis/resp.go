package redis

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/locksim/locksim/sim"
)

// respSize returns the length of the RESP value at the start of b, or 0 if it
// is not complete yet. Bytes that are no RESP count as one value, all of them.
func respSize(b []byte) int {
	size, ok := respEnd(b, 0)
	switch {
	case !ok:
		return 0
	case size < 0:
		return len(b)
	}
	return size
}

// respEnd returns where the value that starts at i ends; -1 if that is no RESP,
// and false if the value is incomplete.
func respEnd(b []byte, i int) (end int, complete bool) {
	if i >= len(b) {
		return 0, false
	}
	eol := bytes.IndexByte(b[i:], '\n')
	switch {
	case eol < 0:
		return 0, false
	case eol == 0: // an empty line
		return i + 1, true
	}
	line := strings.TrimSuffix(string(b[i+1:i+eol]), "\r")
	end = i + eol + 1
	switch b[i] {
	case '+', '-', ':', '_', '#', ',', '(':
		return end, true
	case '$', '=', '!':
		n, err := respLength(line)
		if err != nil {
			return -1, true
		}
		if n < 0 {
			return end, true
		}
		end += n + 2
		return end, end <= len(b)
	case '*', '~', '>', '%', '|':
		n, err := respLength(line)
		if err != nil {
			return -1, true
		}
		if b[i] == '%' || b[i] == '|' {
			n *= 2
		}
		for range max(n, 0) {
			var ok bool
			if end, ok = respEnd(b, end); !ok || end < 0 {
				return end, ok
			}
		}
		return end, true
	}
	// An inline command.
	return end, true
}

// respLength reads the length of a string, or how many elements there are; -1 is
// no value at all. Redis takes none above 512 MB.
func respLength(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err == nil && (n < -1 || n > 512<<20) {
		err = strconv.ErrRange
	}
	return n, err
}

// respArgs returns the words of a command.
func respArgs(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	if b[0] != '*' {
		return strings.Fields(string(b))
	}
	text := string(b) // the words are parts of it
	var args []string
	i := strings.IndexByte(text, '\n') + 1
	if n, err := respLength(strings.TrimSuffix(text[1:max(i-1, 1)], "\r")); err == nil {
		args = make([]string, 0, min(max(n, 0), len(text)))
	}
	for i > 0 && i < len(text) && text[i] == '$' {
		eol := strings.IndexByte(text[i:], '\n')
		if eol < 0 {
			break
		}
		n, err := respLength(strings.TrimSuffix(text[i+1:i+eol], "\r"))
		start := i + eol + 1
		if err != nil || n < 0 || start+n > len(text) {
			break
		}
		args = append(args, text[start:start+n])
		i = start + n + 2
	}
	return args
}

// A framer cuts what a client writes into commands.
type framer struct{ names *sim.Names }

// Next is as in [sim.Framer].
func (f framer) Next(b []byte) (int, sim.Frame) {
	size := respSize(b)
	if size == 0 {
		return 0, sim.Frame{}
	}
	args := respArgs(b[:size])
	return size, sim.Frame{Body: args, Text: tellCommand(f.names, args), Handshake: handshake(args)}
}

// tellCommand tells a command to people. A script and its SHA-1 have one name.
func tellCommand(names *sim.Names, args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		switch {
		case i == 0:
			words[i] = strings.ToUpper(arg)
		case i == 1 && (words[0] == "EVAL" || words[0] == "EVAL_RO"):
			sum := sha1.Sum([]byte(arg))
			words[i] = names.Name("script", hex.EncodeToString(sum[:]))
		case i == 1 && (words[0] == "EVALSHA" || words[0] == "EVALSHA_RO"):
			words[i] = names.Name("script", arg)
		case names.IsKey(arg):
			words[i] = arg
		default:
			words[i] = names.Value(arg)
		}
	}
	return strings.Join(words, " ")
}

// tellReply tells a reply to people.
func tellReply(names *sim.Names, b []byte) string {
	if len(b) == 0 {
		return ""
	}
	eol := bytes.IndexByte(b, '\n')
	if eol <= 0 {
		return names.Value(string(b))
	}
	line := strings.TrimSuffix(string(b[1:eol]), "\r")
	switch b[0] {
	case '+', '-', ':':
		return line
	case '_':
		return "nil"
	case '$':
		if line == "-1" {
			return "nil"
		}
		if n, err := respLength(line); err == nil && n >= 0 && eol+1+n <= len(b) {
			return names.Value(string(b[eol+1 : eol+1+n]))
		}
	case '*', '~', '%', '>':
		if line == "-1" {
			return "nil"
		}
		return "(" + line + " elements)"
	}
	return line
}

// handshake says whether a command only sets a connection up.
func handshake(args []string) bool {
	if len(args) == 0 {
		return false
	}
	switch strings.ToUpper(args[0]) {
	case "HELLO", "CLIENT", "AUTH", "SELECT", "PING", "COMMAND", "INFO", "READONLY":
		return true
	}
	return false
}
