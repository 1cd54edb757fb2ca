package redis

import (
	"fmt"
	"slices"
	"strings"

	mserver "github.com/alicebob/miniredis/v2/server"
)

// Since version 8.4 Redis compares and then sets or deletes in one command, which required
// a script before: SET … IFEQ and DELEX … IFEQ, IFNE for the opposite, and IFDEQ and IFDNE
// for digests of the values.
//
// The answers here are those of the documentation
// (https://redis.io/docs/latest/commands/set/,
// https://redis.io/docs/latest/commands/delex/): the Redis that the table of cases is
// compared with is older and has neither command.

// splitCondition removes the condition on the value from a SET's words, of which the first
// two are the key and the value. word is "" if there is no condition. ok is false if there
// are two.
func splitCondition(args []string) (rest []string, word, value string, ok bool) {
	other := "" // NX or XX
	rest = args
	for i := 2; i < len(args); i++ {
		switch option := strings.ToUpper(args[i]); option {
		case "EX", "PX", "EXAT", "PXAT":
			i++
		case "NX", "XX":
			other = option
		case "IFEQ", "IFNE", "IFDEQ", "IFDNE":
			if word != "" || i+1 == len(args) {
				return nil, "", "", false
			}
			word, value = option, args[i+1]
			rest = slices.Delete(slices.Clone(args), i, i+2)
			i++
		}
	}
	return rest, word, value, word == "" || other == ""
}

// correctSETIF answers a SET with a condition on the current value. If the condition is
// met, the rest of the words is an ordinary SET.
func correctSETIF(n *node, c *mserver.Peer, name string, args []string) bool {
	rest, word, value, ok := splitCondition(args)
	switch {
	case !ok:
		return refuse(c, errSyntax)
	case word == "":
		return correctSET(n, c, name, args)
	case word == "IFDEQ", word == "IFDNE":
		return n.refuseDigest(c, word)
	}
	now := n.query(c, "GET", args[0])
	switch {
	case strings.HasPrefix(now, "-"): // not a string
		c.WriteRaw(now)
	case (now == fmt.Sprintf("$%d\r\n%s\r\n", len(value), value)) != (word == "IFEQ"):
		if slices.ContainsFunc(rest[2:], func(s string) bool { return strings.EqualFold(s, "GET") }) {
			c.WriteRaw(now)
		} else {
			c.WriteNull()
		}
	case !correctSET(n, c, name, rest):
		n.dispatch(c, append([]string{name}, rest...)...)
	}
	return true
}

// correctDELEX lets miniredis answer everything except digests.
func correctDELEX(n *node, c *mserver.Peer, _ string, args []string) bool {
	word := strings.ToUpper(args[1])
	return (word == "IFDEQ" || word == "IFDNE") && n.refuseDigest(c, word)
}

// refuseDigest refuses a comparison by digest, which this server does not have.
func (n *node) refuseDigest(c *mserver.Peer, word string) bool {
	n.host.Doubt("a command was sent with " + word + ", which the simulated Redis does not have: it makes no digests")
	return refuse(c, "ERR "+word+" is not simulated")
}
