package locks_test

import (
	_ "github.com/locksim/locksim/servers/redis"
	_ "github.com/locksim/locksim/sim/simtest"
)
