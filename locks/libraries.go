package locks

import "fmt"

// adapters is the path of the packages that make the locks of libraries. This package only
// registers those locks, so a program that imports it does not need the libraries: see
// [Provide].
const adapters = "github.com/locksim/locksim/libraries/"

func init() {
	const redsync = "github.com/go-redsync/redsync, unmodified"
	for name, title := range map[string]string{
		"redsync":          redsync + ": one try, strict go-redis",
		"redsync-retrying": redsync + ": its own 32 tries, strict go-redis",
		"redsync-defaults": redsync + ": its own 32 tries, go-redis's own defaults",
	} {
		Register(Kind{Name: name, Title: title, System: Redis, Slots: onEveryNode, Adapter: adapters + "redsync", Library: "github.com/go-redsync/redsync/v4"})
	}
	const redislock = "github.com/bsm/redislock, unmodified"
	for name, title := range map[string]string{
		"redislock":          redislock + ": strict go-redis",
		"redislock-defaults": redislock + ": go-redis's own defaults",
	} {
		Register(Kind{Name: name, Title: title, System: Redis, Slots: onFirstNode, Adapter: adapters + "redislock", Library: "github.com/bsm/redislock"})
	}
	for name, title := range map[string]string{
		"rueidislock":        "github.com/redis/rueidis/rueidislock, unmodified, with rueidis's defaults: it repeats commands and pings the connection",
		"rueidislock-strict": "as rueidislock, but each command is sent once, and the connection is not pinged",
	} {
		// rueidislock sets the last of a lock's keys after the lock was granted, and
		// extends all keys, over connections that the locks of a process share. So with two
		// locks in a process the simulator could not say which lock a message belongs to.
		Register(Kind{Name: name, Title: title, System: Redis, Slots: rueidislockSlots, Renews: true, CannotExtend: true, OneAtATime: true, Adapter: adapters + "rueidislock", Library: "github.com/redis/rueidis"})
	}
}

// rueidislockSlots returns the keys of one lock with rueidislock's defaults. A grant needs
// two keys of three. All three are on one node here. More than one key makes a difference
// only on a cluster, where each may be on another node.
func rueidislockSlots(key string, _ int) (slots []Slot, quorum int) {
	for i := range 3 {
		slots = append(slots, Slot{Key: fmt.Sprintf("rueidislock:%d:%s", i, key)})
	}
	return slots, 2
}
