package checks

import (
	"slices"
	"strings"
)

// This file knows the commands that change a lock's keys. Most are Redis commands. A
// command is a list of words.

// conditions has the commands that change a key. For each of them it has the options that
// make the command depend on the key's value, on its absence or, for EXPIRE and its like,
// on a missing expiry.
var conditions = map[string][]string{
	"SET": {"NX", "IFEQ", "IFNE", "IFDEQ", "IFDNE"}, "SETEX": nil, "PSETEX": nil, "GETSET": nil, "GETDEL": nil,
	"DEL": nil, "UNLINK": nil, "EXPIRE": {"NX"}, "PEXPIRE": {"NX"}, "EXPIREAT": {"NX"}, "PEXPIREAT": {"NX"}, "PERSIST": nil,
}

// comparesNothing reports whether a command is one of those that change a key whatever its
// value is.
func comparesNothing(command []string) bool {
	if len(command) == 0 {
		return false
	}
	options, known := conditions[strings.ToUpper(command[0])]
	return known && !slices.ContainsFunc(command[1:], func(word string) bool { return slices.Contains(options, strings.ToUpper(word)) })
}

// isGet reports whether a command is a GET for a key.
func isGet(command []string, key string) bool {
	return len(command) == 2 && strings.EqualFold(command[0], "get") && command[1] == key
}

// setBy returns the key and the value of a SET, and false for any other command.
func setBy(command []string) (key, value string, ok bool) {
	if len(command) < 3 || !strings.EqualFold(command[0], "set") {
		return "", "", false
	}
	return command[1], command[2], true
}

// isAdvisoryStatement reports whether a request is a statement of PostgreSQL that acquires or
// releases an advisory lock, such as SELECT pg_advisory_unlock(7).
func isAdvisoryStatement(command []string) bool {
	return slices.ContainsFunc(command, func(word string) bool { return strings.Contains(strings.ToLower(word), "advisory_") })
}
