package redis

import (
	"fmt"
	"slices"
	"strings"

	mserver "github.com/alicebob/miniredis/v2/server"
)

// This file has the compare-and-set commands of Redis 8.4, for which older versions need a
// script. SET … IFEQ sets a key, and DELEX … IFEQ deletes it, only if its value equals the
// given one. IFNE demands the opposite. IFDEQ and IFDNE compare digests of the values.
//
// The answers follow the documentation (https://redis.io/docs/latest/commands/set/,
// https://redis.io/docs/latest/commands/delex/). The fidelity tests cannot check them: they
// compare with an older Redis, which does not have these commands.

// splitCondition splits the words after SET, which are the key, the new value and the options.
// operator and value are the condition on the current value, such as IFEQ and v1; operator is "" if
// there is no such condition. rest is the words without the condition. ok is false if the operator
// has no value, or if there is a second condition, such as NX.
func splitCondition(args []string) (rest []string, operator, value string, ok bool) {
	existence := "" // NX or XX
	rest = args
	for i := 2; i < len(args); i++ {
		switch option := toUpper(args[i]); option {
		case "EX", "PX", "EXAT", "PXAT":
			i++
		case "NX", "XX":
			existence = option
		case "IFEQ", "IFNE", "IFDEQ", "IFDNE":
			if operator != "" || i+1 == len(args) {
				return nil, "", "", false
			}
			operator, value = option, args[i+1]
			rest = slices.Delete(slices.Clone(args), i, i+2)
			i++
		}
	}
	return rest, operator, value, operator == "" || existence == ""
}

// correctSETIF answers a SET that has a condition on the current value. If the condition is
// met, the remaining words are executed as an ordinary SET.
func correctSETIF(n *node, c *mserver.Peer, name string, args []string) bool {
	rest, operator, value, ok := splitCondition(args)
	switch {
	case !ok:
		return refuse(c, errSyntax)
	case operator == "":
		return correctSET(n, c, name, args)
	case operator == "IFDEQ", operator == "IFDNE":
		return n.refuseDigest(c, operator)
	}
	current := n.query(c, "GET", args[0])
	switch {
	case strings.HasPrefix(current, "-"): // not a string
		c.WriteRaw(current)
	case (current == fmt.Sprintf("$%d\r\n%s\r\n", len(value), value)) != (operator == "IFEQ"):
		if slices.ContainsFunc(rest[2:], func(s string) bool { return strings.EqualFold(s, "GET") }) {
			c.WriteRaw(current)
		} else {
			c.WriteNull()
		}
	case !correctSET(n, c, name, rest):
		n.dispatch(c, append([]string{name}, rest...)...)
	}
	return true
}

// correctDELEX refuses a DELEX that compares digests. miniredis answers all others.
func correctDELEX(n *node, c *mserver.Peer, _ string, args []string) bool {
	word := toUpper(args[1])
	return (word == "IFDEQ" || word == "IFDNE") && n.refuseDigest(c, word)
}

// refuseDigest refuses a command that compares digests, which this server cannot compute,
// and makes the run inconclusive.
func (n *node) refuseDigest(c *mserver.Peer, word string) bool {
	n.host.Doubt("a command was sent with " + word + ", which the simulated Redis does not have: it makes no digests")
	return refuse(c, "ERR "+word+" is not simulated")
}
