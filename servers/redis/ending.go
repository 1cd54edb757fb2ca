package redis

import (
	"math"
	"strconv"
	"strings"
	"time"

	mserver "github.com/alicebob/miniredis/v2/server"
)

// An ending is when a key is to end that miniredis was told a rounded time for.
type ending struct {
	db  int
	key string
	// told is what miniredis has noted if the command had an effect, and life what it
	// is to be: both from now.
	told, life time.Duration
}

// inSeconds are the words that say in seconds what others say in milliseconds.
var inSeconds = map[string]string{
	"PX": "EX", "PXAT": "EXAT", "PSETEX": "SETEX", "PEXPIRE": "EXPIRE", "PEXPIREAT": "EXPIREAT",
}

// dispatchEnding has miniredis answer a command that says when its first key is to
// end: command[number] is the time, and command[unit] says how it is counted.
//
// miniredis reads that time as an int, which on some processors has 32 bits: too
// few for the time of day in milliseconds, as in PXAT. There it is told the next
// whole second, and what it has noted is put right when the whole command is done:
// in the middle of a script nobody can.
func (n *node) dispatchEnding(c *mserver.Peer, command []string, unit, number int) {
	if _, err := strconv.Atoi(command[number]); err == nil {
		n.dispatch(c, command...)
		return
	}
	word := strings.ToUpper(command[unit])
	l := lifespans[word]
	v, _ := strconv.ParseInt(command[number], 10, 64) // lifespan has read it before
	life := func(ms int64) time.Duration {
		if l.at {
			return time.UnixMilli(ms).Sub(n.wall)
		}
		return time.Duration(ms) * time.Millisecond
	}
	ms := v * int64(l.unit/time.Millisecond)
	seconds := ms / 1000
	if life(ms) > 0 && ms%1000 > 0 {
		seconds++ // or it might be over already
	}
	seconds = min(max(seconds, math.MinInt), math.MaxInt)
	if coarse, ok := inSeconds[word]; ok {
		command[unit] = coarse
	}
	command[number] = strconv.FormatInt(seconds, 10)
	n.dispatch(c, command...)
	n.endings = append(n.endings, ending{n.selected[c.Ctx], command[1], life(seconds * 1000), life(ms)})
}

// end puts right what miniredis has noted of the ends of keys.
func (n *node) end() {
	for _, e := range n.endings {
		if db := n.mini.DB(e.db); db.TTL(e.key) == e.told {
			db.SetTTL(e.key, e.life)
		}
	}
	n.endings = n.endings[:0]
}
