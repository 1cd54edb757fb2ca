package redis

import (
	"strconv"
	"strings"

	mserver "github.com/alicebob/miniredis/v2/server"
)

// Redis's errors for values that would become too long. SETRANGE, SETBIT and APPEND can
// make a value much longer than the data that they contain. miniredis sets no limit, so
// this file checks the new length before miniredis executes such a command.
const (
	errTooLong   = "ERR string exceeds maximum allowed size (proto-max-bulk-len)"
	errBitOffset = "ERR bit offset is not an integer or out of range"
)

// reserveGrowth reserves memory for a string that a command lengthens to size bytes. If size is too
// large, it answers the command with an error and returns true. If the simulated world has no
// memory left for the string, reserveGrowth also ends the world.
func (n *node) reserveGrowth(c *mserver.Peer, key string, size int64) (refused bool) {
	was, ok := n.stringLength(c, key)
	switch {
	case !ok || size <= was:
		return false
	case size > longestValue:
		return refuse(c, errTooLong)
	case size-was > int64(n.host.Room()):
		n.host.Overflow()
		return refuse(c, "OOM command not allowed when used memory > 'maxmemory'.")
	}
	n.host.ChargeText(int(size - was))
	return false
}

// stringLength returns the length of a key's string in bytes; ok is false if the key holds
// another type.
func (n *node) stringLength(c *mserver.Peer, key string) (size int64, ok bool) {
	answer := strings.TrimSuffix(n.query(c, "STRLEN", key), "\r\n")
	size, err := strconv.ParseInt(strings.TrimPrefix(answer, ":"), 10, 64)
	return size, err == nil
}

// correctSETRANGE checks the length of the value before SETRANGE. It also answers a
// SETRANGE with an empty text, which changes nothing.
func correctSETRANGE(n *node, c *mserver.Peer, _ string, args []string) bool {
	at, ok := parseInteger(args[1])
	if !ok || at < 0 {
		return false
	}
	was, isString := n.stringLength(c, args[0])
	if isString && args[2] == "" {
		c.WriteInt(int(was)) // nothing changes
		return true
	}
	return n.reserveGrowth(c, args[0], min(at, longestValue+1)+int64(len(args[2])))
}

// correctSETBIT checks the offset of GETBIT and SETBIT, and the length of the value before
// SETBIT.
func correctSETBIT(n *node, c *mserver.Peer, name string, args []string) bool {
	at, ok := parseInteger(args[1])
	switch {
	case !ok || at < 0:
		return false
	case at/8 >= longestValue:
		return refuse(c, errBitOffset)
	case name == "GETBIT" || len(args) != 3 || args[2] != "0" && args[2] != "1":
		return false
	}
	return n.reserveGrowth(c, args[0], at/8+1)
}

// correctAPPEND checks the length of the value before APPEND.
func correctAPPEND(n *node, c *mserver.Peer, _ string, args []string) bool {
	was, ok := n.stringLength(c, args[0])
	return ok && n.reserveGrowth(c, args[0], was+int64(len(args[1])))
}
