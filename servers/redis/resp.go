package redis

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/locksim/locksim/sim"
)

// respSize returns the length of the reply at the start of b, in bytes, or 0 if the reply
// is not complete yet. A reply is a value of RESP, the protocol of Redis. Bytes that are
// not RESP count as one value. The function is not recursive, because values may be nested
// to any depth.
func respSize(b []byte) int {
	end := 0
	for left := int64(1); left > 0; left-- {
		i := end
		eol := bytes.IndexByte(b[i:], '\n')
		if eol < 0 {
			return 0
		}
		end = i + eol + 1
		if eol == 0 { // an empty line
			continue
		}
		line := strings.TrimSuffix(string(b[i+1:i+eol]), "\r")
		switch b[i] {
		case '$', '=', '!':
			n, err := respLength(line)
			if err != nil {
				return len(b)
			}
			if n >= 0 {
				end += n + 2
			}
			if end > len(b) {
				return 0
			}
		case '*', '~', '>', '%', '|':
			n, err := respLength(line)
			if err != nil {
				return len(b)
			}
			if b[i] == '%' || b[i] == '|' {
				n *= 2
			}
			left += int64(max(n, 0))
		}
	}
	return end
}

// respLength parses the length of a string, or the number of elements of an array; -1 means
// that there is no value. Lengths above 512 MB are an error, as in Redis.
func respLength(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err == nil && (n < -1 || n > 512<<20) {
		err = strconv.ErrRange
	}
	return n, err
}

// describeCommand returns the text of a command for the trace: random words are replaced by
// names. A script gets the same name in EVAL, where it is a text, and in EVALSHA, where it
// is a digest.
func describeCommand(names *sim.Names, args []string) string {
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

// describeReply returns the text of a reply for the trace.
func describeReply(names *sim.Names, b []byte) string {
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

// isHandshake reports whether a command only sets up or checks a connection, so that it is
// not one of the lock's own messages.
func isHandshake(args []string) bool {
	if len(args) == 0 {
		return false
	}
	switch strings.ToUpper(args[0]) {
	case "HELLO", "CLIENT", "AUTH", "SELECT", "PING", "COMMAND", "INFO", "READONLY":
		return true
	}
	return false
}
