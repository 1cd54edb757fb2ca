package checks

import (
	"slices"
	"strings"
)

// This file knows the commands that change a lock's keys. Most are Redis commands. A
// command is a list of words.

// conditions has the commands that change a key. For each command it lists the options that make
// the change depend on a condition. Examples: IFEQ (the key has a certain value), NX for SET (the
// key does not exist), NX for EXPIRE (the key has no expiry).
var conditions = map[string][]string{
	"SET": {"NX", "IFEQ", "IFNE", "IFDEQ", "IFDNE"}, "SETEX": nil, "PSETEX": nil, "GETSET": nil, "GETDEL": nil,
	"DEL": nil, "UNLINK": nil, "EXPIRE": {"NX"}, "PEXPIRE": {"NX"}, "EXPIREAT": {"NX"}, "PEXPIREAT": {"NX"}, "PERSIST": nil,
}

// comparesNothing reports whether a command changes a key whatever the key's value is.
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
