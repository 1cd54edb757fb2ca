// Package resp cuts bytes of RESP, the protocol of Redis, into replies, and describes them.
package resp

import (
	"bytes"
	"strconv"
	"strings"
)

// Size returns the length of the reply at the start of b, in bytes, or 0 if the reply is not
// complete yet. A reply is a value of RESP, the protocol of Redis. Bytes that are not RESP count as
// a reply that ends with their line. If a length is wrong, all of b counts as one reply. The
// function is not recursive, because values may be nested to any depth.
func Size(b []byte) int {
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
			n, err := parseLength(line)
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
			n, err := parseLength(line)
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

// parseLength parses the length of a string, or the number of elements of an array; -1 means
// that there is no value. Lengths above 512 MB are an error, as in Redis.
func parseLength(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err == nil && (n < -1 || n > 512<<20) {
		err = strconv.ErrRange
	}
	return n, err
}

// Describe returns the text of a reply for a trace. value returns the form in which the trace shows
// a string of the reply.
func Describe(b []byte, value func(word string) string) string {
	if len(b) == 0 {
		return ""
	}
	eol := bytes.IndexByte(b, '\n')
	if eol <= 0 {
		return value(string(b))
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
		if n, err := parseLength(line); err == nil && n >= 0 && eol+1+n <= len(b) {
			return value(string(b[eol+1 : eol+1+n]))
		}
	case '*', '~', '%', '>':
		if line == "-1" {
			return "nil"
		}
		return "(" + line + " elements)"
	}
	return line
}
