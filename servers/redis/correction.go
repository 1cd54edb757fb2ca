package redis

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	mserver "github.com/alicebob/miniredis/v2/server"
)

// A correction answers a command as Redis does, where miniredis would answer differently. It
// applies if the number of words after the command's name is from minArgs to maxArgs. The
// function answer returns true if it has answered; otherwise miniredis answers.
type correction struct {
	minArgs, maxArgs int
	answer           func(n *node, c *mserver.Peer, name string, args []string) bool
}

// unlimited is the maxArgs of commands that take any number of words.
const unlimited = math.MaxInt

// corrections has the corrections by command. The fidelity tests show what each of them corrects.
// The map is filled in init, because corrections send commands to miniredis, whose hook looks the
// commands up in this map.
var corrections map[string]correction

func init() {
	// Each correction has minArgs, maxArgs and answer.
	ttl, increment := correction{1, 1, correctTTL}, correction{1, unlimited, correctINCR}
	setEnding, expire := correction{3, 3, correctExpiry}, correction{2, unlimited, correctExpiry}
	eval, bit := correction{2, unlimited, correctEVAL}, correction{2, unlimited, correctSETBIT}
	corrections = map[string]correction{
		"TTL": ttl, "PTTL": ttl, "EXPIRETIME": ttl, "PEXPIRETIME": ttl,
		"SET": {2, unlimited, correctSETIF}, "SETEX": setEnding, "PSETEX": setEnding,
		"EXPIRE": expire, "PEXPIRE": expire, "EXPIREAT": expire, "PEXPIREAT": expire,
		"INCR": increment, "INCRBY": increment, "DECR": increment, "DECRBY": increment,
		"EVAL": eval, "EVALSHA": eval, "EVAL_RO": eval, "EVALSHA_RO": eval,
		"SETRANGE": {3, 3, correctSETRANGE}, "SETBIT": bit, "GETBIT": bit, "APPEND": {2, 2, correctAPPEND},
		"DELEX":     {3, 3, correctDELEX},
		"SCRIPT":    {1, unlimited, correctSCRIPT},
		"SELECT":    {1, 1, correctSELECT},
		"HELLO":     {1, 1, correctHELLO},
		"INFO":      {0, unlimited, correctINFO},
		"RANDOMKEY": {0, 0, correctRANDOMKEY},
		"CLUSTER":   {1, unlimited, correctCLUSTER},
	}
}

const (
	errNotAnInteger = "ERR value is not an integer or out of range"
	errSyntax       = "ERR syntax error"
	errReadOnly     = "READONLY You can't write against a read only replica."
)

// correct is the hook that miniredis calls before every command of a client or a script. It reports
// whether it has answered the command. It must be called on the loop (the goroutine of the world
// that calls all servers), except for commands that block, which need no correction.
func (n *node) correct(c *mserver.Peer, name string, args ...string) bool {
	n.tracker.addCommand(name, args)
	n.checkUnserved(name, args)
	correction, known := corrections[name]
	return known && n.uncorrectedPeer != c && correction.minArgs <= len(args) && len(args) <= correction.maxArgs && correction.answer(n, c, name, args)
}

// dispatch makes miniredis answer a command on a connection, without corrections.
func (n *node) dispatch(c *mserver.Peer, words ...string) {
	outer := n.uncorrectedPeer
	n.uncorrectedPeer = c
	n.mini.Server().Dispatch(c, words)
	n.uncorrectedPeer = outer
}

// query returns miniredis's reply to a command that the node itself sends, in the database
// and the state of the client's connection c. The client does not see the reply.
func (n *node) query(c *mserver.Peer, words ...string) string {
	var b bytes.Buffer
	inner := mserver.NewPeer(bufio.NewWriter(&b))
	inner.Ctx, inner.Resp3 = c.Ctx, c.Resp3
	n.dispatch(inner, words...)
	inner.Flush()
	return b.String()
}

// refuse answers a command with an error. It returns true, like a correction that has answered.
func refuse(c *mserver.Peer, err string) bool {
	c.WriteError(err)
	return true
}

// parseInteger parses a number as Redis does: it accepts no plus sign, leading zeros or
// spaces.
func parseInteger(word string) (v int64, ok bool) {
	v, err := strconv.ParseInt(word, 10, 64)
	return v, err == nil && strconv.FormatInt(v, 10) == word
}

// unknownCommand returns the error for a command that does not exist. Like Redis, it shows
// at most 128 bytes of the command's name, and at most 128 bytes of its other words.
func unknownCommand(words []string) string {
	const most = 128
	var b strings.Builder
	for _, word := range words[1:] {
		if b.Len() >= most {
			break
		}
		fmt.Fprintf(&b, "'%s' ", cString(word, most-b.Len()))
	}
	return fmt.Sprintf("ERR unknown command '%s', with args beginning with: %s", cString(words[0], most), &b)
}

// cString returns the part of a text that C's printf shows with the precision most: at most that
// many bytes, up to the first zero byte.
func cString(text string, most int) string {
	text = text[:min(len(text), most)]
	if zero := strings.IndexByte(text, 0); zero >= 0 {
		text = text[:zero]
	}
	return text
}

// correctTTL answers TTL, PTTL, EXPIRETIME and PEXPIRETIME with the numbers that Redis returns.
// Redis counts in whole milliseconds and rounds seconds to the nearest; miniredis rounds everything
// down. miniredis also answers with an int. On a machine where an int has 32 bits, the time of day
// in milliseconds overflows, but the TTL in seconds does not.
func correctTTL(n *node, c *mserver.Peer, name string, args []string) bool {
	var end, seconds int
	if _, err := fmt.Sscanf(n.query(c, "TTL", args[0]), ":%d\r\n", &seconds); err != nil || seconds < 0 {
		return false
	}
	if _, err := fmt.Sscanf(n.query(c, "PEXPIRETIME", args[0]), ":%d\r\n", &end); err != nil {
		return false
	}
	// ms is the time of expiry: seconds gives it roughly, and end gives its lower bits
	// exactly.
	ms := n.miniTime.UnixMilli() + int64(seconds)*1000
	ms += int64(end - int(ms))
	if name == "TTL" || name == "PTTL" {
		ms -= n.miniTime.UnixMilli()
	}
	if name == "TTL" || name == "EXPIRETIME" {
		ms = (ms + 500) / 1000
	}
	c.WriteRaw(fmt.Sprintf(":%d\r\n", ms))
	return true
}

// maxLife is the longest time that a key may have left; a longer one is shortened to it. It
// is 146 years, because miniredis counts nanoseconds in 64 bits.
const maxLife = math.MaxInt64 / 2

// A lifespan is how a command specifies when a key expires.
type lifespan struct {
	unit time.Duration
	// isAbsolute: the time is counted from 1970, otherwise from now.
	isAbsolute bool
	// mayBePast: the key may be set to expire at a time in the past, which deletes it.
	mayBePast bool
}

// lifespans has the lifespans of options such as PX and of commands such as PEXPIRE.
var lifespans = map[string]lifespan{
	"EX": {unit: time.Second}, "PX": {unit: time.Millisecond},
	"EXAT": {unit: time.Second, isAbsolute: true}, "PXAT": {unit: time.Millisecond, isAbsolute: true},
	"SETEX": {unit: time.Second}, "PSETEX": {unit: time.Millisecond},
	"EXPIRE": {unit: time.Second, mayBePast: true}, "PEXPIRE": {unit: time.Millisecond, mayBePast: true},
	"EXPIREAT": {unit: time.Second, isAbsolute: true, mayBePast: true}, "PEXPIREAT": {unit: time.Millisecond, isAbsolute: true, mayBePast: true},
}

// parseLifespan parses the word of a command that says when a key expires. l says how to read the
// word. fit is the word for miniredis, which limits the key's remaining time to maxLife, and left
// is the time from now until the key expires. err is the text of an error, or "".
func (n *node) parseLifespan(command, word string, l lifespan) (fit string, left time.Duration, err string) {
	invalid := fmt.Sprintf("ERR invalid expire time in '%s' command", strings.ToLower(command))
	v, ok := parseInteger(word)
	perUnit := int64(l.unit / time.Millisecond)
	switch {
	case !ok:
		return "", 0, errNotAnInteger
	case !l.mayBePast && v <= 0, v > math.MaxInt64/perUnit, v < math.MinInt64/perUnit:
		return "", 0, invalid
	}
	ms, now := v*perUnit, n.miniTime.UnixMilli()
	if !l.isAbsolute && ms > math.MaxInt64-now {
		return "", 0, invalid
	}
	const most = maxLife / int64(time.Millisecond)
	from := int64(0)
	if l.isAbsolute {
		from = now
	}
	fitting := min(max(ms, from-most), from+most)
	if fitting != ms {
		word = strconv.FormatInt(fitting/perUnit, 10)
	}
	return word, time.Duration(fitting-from) * time.Millisecond, ""
}

// correctSET refuses a SET that Redis refuses, and corrects a SET that lets its key expire in the
// past. For such a SET, miniredis would keep the TTL for the next key of that name. A key that is
// to expire at the current nanosecond would even be stored without an expiry.
func correctSET(n *node, c *mserver.Peer, name string, args []string) bool {
	var nx, xx, keep bool
	end := 0
	for i := 2; i < len(args); i++ {
		switch option := toUpper(args[i]); option {
		case "NX":
			nx = true
		case "XX":
			xx = true
		case "KEEPTTL":
			keep = true
		case "EX", "PX", "EXAT", "PXAT":
			if i++; i == len(args) {
				return refuse(c, errSyntax)
			}
			end = i
		}
	}
	switch {
	case nx && xx, keep && end > 0:
		return refuse(c, errSyntax)
	case end == 0:
		return false
	}
	word, left, err := n.parseLifespan(name, args[end], lifespans[toUpper(args[end-1])])
	if err != "" {
		return refuse(c, err)
	}
	args = slices.Clone(args)
	args[end] = word
	if left <= 0 {
		args[end] = "1"
	}
	n.dispatchWithExpiry(c, append([]string{name}, args...), end, end+1)
	// The node sets and deletes the key, which removes the TTL that miniredis has kept for it.
	if left <= 0 && n.query(c, "EXISTS", args[0]) == ":0\r\n" {
		n.query(c, "SET", args[0], "")
		n.query(c, "DEL", args[0])
	}
	return true
}

// correctExpiry answers a command whose second word says when the key expires, such as
// SETEX or PEXPIRE.
func correctExpiry(n *node, c *mserver.Peer, name string, args []string) bool {
	word, _, err := n.parseLifespan(name, args[1], lifespans[name])
	if err != "" {
		return refuse(c, err)
	}
	command := append([]string{name}, args...)
	command[2] = word
	n.dispatchWithExpiry(c, command, 0, 2)
	return true
}

// A pendingExpiry is the exact expiry of a key for which miniredis got a rounded time.
type pendingExpiry struct {
	db  int
	key string
	// roundedLife is how long the key has left in miniredis, if the command had an effect;
	// exactLife is how long it should have left.
	roundedLife, exactLife time.Duration
}

// secondsOption maps a word that counts in milliseconds to the one that counts in seconds.
var secondsOption = map[string]string{
	"PX": "EX", "PXAT": "EXAT", "PSETEX": "SETEX", "PEXPIRE": "EXPIRE", "PEXPIREAT": "EXPIREAT",
}

// dispatchWithExpiry makes miniredis answer a command that says when its first key expires:
// command[timeIndex] is the time, and command[unitIndex] is the word that gives the unit.
//
// miniredis parses that time as an int. Where an int has 32 bits, it cannot hold the time of day in
// milliseconds, as in PXAT. Then miniredis gets the next whole second, and fixExpiries corrects the
// expiry after the whole command. Until then, such as in the rest of a script, the key has the
// rounded expiry.
func (n *node) dispatchWithExpiry(c *mserver.Peer, command []string, unitIndex, timeIndex int) {
	if _, err := strconv.Atoi(command[timeIndex]); err == nil {
		n.dispatch(c, command...)
		return
	}
	word := toUpper(command[unitIndex])
	l := lifespans[word]
	v, _ := strconv.ParseInt(command[timeIndex], 10, 64) // parseLifespan has parsed it before
	life := func(ms int64) time.Duration {
		if l.isAbsolute {
			return time.UnixMilli(ms).Sub(n.miniTime)
		}
		return time.Duration(ms) * time.Millisecond
	}
	ms := v * int64(l.unit/time.Millisecond)
	seconds := ms / 1000
	if life(ms) > 0 && ms%1000 > 0 {
		seconds++ // rounded down, the key might have expired already
	}
	seconds = min(max(seconds, math.MinInt), math.MaxInt)
	if coarse, ok := secondsOption[word]; ok {
		command[unitIndex] = coarse
	}
	command[timeIndex] = strconv.FormatInt(seconds, 10)
	n.dispatch(c, command...)
	n.pendingExpiries = append(n.pendingExpiries, pendingExpiry{n.selectedDB[c.Ctx], command[1], life(seconds * 1000), life(ms)})
}

// fixExpiries replaces the rounded expiries in miniredis by the exact ones.
func (n *node) fixExpiries() {
	for _, e := range n.pendingExpiries {
		if db := n.mini.DB(e.db); db.TTL(e.key) == e.roundedLife {
			db.SetTTL(e.key, e.exactLife)
		}
	}
	n.pendingExpiries = n.pendingExpiries[:0]
}

// correctINCR refuses to increment a text that miniredis would accept as a number and Redis
// does not, such as one with a plus sign.
func correctINCR(n *node, c *mserver.Peer, _ string, args []string) bool {
	var size int
	value := n.query(c, "GET", args[0])
	if _, err := fmt.Sscanf(value, "$%d\r\n", &size); err != nil || size < 0 {
		return false
	}
	_, value, _ = strings.Cut(value, "\r\n")
	if _, ok := parseInteger(strings.TrimSuffix(value, "\r\n")); ok {
		return false
	}
	return refuse(c, errNotAnInteger)
}

// correctSELECT allows only the databases 0 to 15, and notes which one the connection has
// selected.
func correctSELECT(n *node, c *mserver.Peer, name string, args []string) bool {
	db, ok := parseInteger(args[0])
	switch {
	case !ok:
		return false
	case db < 0 || db > 15:
		return refuse(c, "ERR DB index is out of range")
	}
	n.dispatch(c, name, args[0])
	n.selectedDB[c.Ctx] = int(db)
	return true
}

// correctHELLO answers with a stored copy of miniredis's answer. The answer is always the
// same, and making it anew takes longer than all later requests of a lock.
func correctHELLO(n *node, c *mserver.Peer, name string, args []string) bool {
	if args[0] != "2" && args[0] != "3" {
		return false
	}
	reply, known := helloReplies.Load(args[0])
	if !known {
		reply, _ = helloReplies.LoadOrStore(args[0], n.query(c, name, args[0]))
	}
	c.Resp3 = args[0] == "3"
	c.WriteRaw(reply.(string))
	return true
}

var helloReplies sync.Map // replies to HELLO, by the requested version of RESP

// correctINFO answers with the numbers of connections and commands of this server: miniredis's own
// counts include those of other nodes that the same miniredis has served before.
func correctINFO(n *node, c *mserver.Peer, _ string, args []string) bool {
	clients := fmt.Sprintf("# Clients\nconnected_clients:%d\r\n", n.openConnections)
	stats := fmt.Sprintf("# Stats\ntotal_connections_received:%d\r\ntotal_commands_processed:%d\r\n", n.acceptedConnections, n.commandCount)
	switch {
	case len(args) == 0:
		c.WriteBulk(clients + stats)
	case len(args) == 1 && strings.EqualFold(args[0], "clients"):
		c.WriteBulk(clients)
	case len(args) == 1 && strings.EqualFold(args[0], "stats"):
		c.WriteBulk(stats)
	default:
		return false
	}
	return true
}

// correctRANDOMKEY draws one of the keys in sorted order. miniredis draws in the order of a
// Go map, which differs from run to run.
func correctRANDOMKEY(n *node, c *mserver.Peer, _ string, _ []string) bool {
	_, keys, _ := readRequest([]byte(n.query(c, "KEYS", "*")))
	if len(keys) == 0 {
		return false
	}
	if n.randomKeySource == nil {
		n.randomKeySource = rand.New(rand.NewPCG(n.host.Seed(), 0))
	}
	c.WriteBulk(keys[n.randomKeySource.IntN(len(keys))])
	return true
}
