package redis

import (
	"fmt"
	"slices"
	"strings"

	mserver "github.com/alicebob/miniredis/v2/server"
)

// Redis 8.4 compares and then sets or deletes in one command, which until then took a
// script: SET … IFEQ and DELEX … IFEQ, with IFNE for the opposite, and IFDEQ and IFDNE for
// digests of the values instead of these.
//
// What is here answers as the documentation says
// (https://redis.io/docs/latest/commands/set/, https://redis.io/docs/latest/commands/delex/):
// the Redis that the table of cases is compared with is older, and knows neither.

// condition takes the condition on the value off a SET's words, the key and the value first.
// There is none if word is "". It is not ok if there are two.
func condition(args []string) (rest []string, word, value string, ok bool) {
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

// correctSETIF answers a SET with a condition on the value that stands. If it is met the rest
// of the words is a SET like any other.
func correctSETIF(n *node, c *mserver.Peer, name string, args []string) bool {
	rest, word, value, ok := condition(args)
	switch {
	case !ok:
		return refuse(c, errSyntax)
	case word == "":
		return correctSET(n, c, name, args)
	case word == "IFDEQ", word == "IFDNE":
		return n.refuseDigest(c, word)
	}
	now := n.answer(c, "GET", args[0])
	switch {
	case strings.HasPrefix(now, "-"): // no string
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

// correctDELEX has miniredis answer all but digests.
func correctDELEX(n *node, c *mserver.Peer, _ string, args []string) bool {
	word := strings.ToUpper(args[1])
	return (word == "IFDEQ" || word == "IFDNE") && n.refuseDigest(c, word)
}

// refuseDigest refuses what this server cannot compare.
func (n *node) refuseDigest(c *mserver.Peer, word string) bool {
	n.host.Doubt("a command was sent with " + word + ", which the simulated Redis does not have: it makes no digests")
	return refuse(c, "ERR "+word+" is not simulated")
}
