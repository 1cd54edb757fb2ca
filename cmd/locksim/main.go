// Command locksim shows how distributed locks fail, and what fencing tokens do about it. It
// runs real lock clients in a simulated world in virtual time.
//
// It contains the locks on Redis (except rueidislock), etcd, ZooKeeper, Consul and
// PostgreSQL. The program locksim-all contains the locks of all libraries, and takes twice
// as long to build.
package main

import (
	"github.com/locksim/locksim/command"

	_ "github.com/locksim/locksim/libraries/goose"
	_ "github.com/locksim/locksim/libraries/postgres"
	_ "github.com/locksim/locksim/libraries/redislock"
	_ "github.com/locksim/locksim/libraries/redsync"
	_ "github.com/locksim/locksim/libraries/zookeeper"
)

func main() { command.Main() }
