package redis

import (
	"crypto/sha1"
	"encoding/hex"
	"strings"

	"github.com/locksim/locksim/sim"
)

// describeCommand returns the text of a command for the trace: random words are replaced by
// names. A script gets the same name in EVAL, where it is a text, and in EVALSHA, where it
// is a digest.
func describeCommand(names *sim.Names, args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		switch {
		case i == 0:
			words[i] = toUpper(arg)
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

// capitals has the usual words of commands in capital letters. A search sends millions of them.
var capitals = map[string]string{}

func init() {
	for _, word := range []string{"SET", "GET", "DEL", "NX", "PX", "EX", "EVAL", "EVALSHA", "SCRIPT", "PEXPIRE", "HELLO", "CLIENT", "PING"} {
		capitals[strings.ToLower(word)] = word
	}
}

// toUpper is [strings.ToUpper], which needs memory for each word that changes.
func toUpper(word string) string {
	if upper, ok := capitals[word]; ok {
		return upper
	}
	return strings.ToUpper(word)
}

// isHandshake reports whether a command only sets up or checks a connection, so that it is
// not one of the lock's own messages.
func isHandshake(args []string) bool {
	if len(args) == 0 {
		return false
	}
	switch toUpper(args[0]) {
	case "HELLO", "CLIENT", "AUTH", "SELECT", "PING", "COMMAND", "INFO", "READONLY":
		return true
	}
	return false
}
