package locks_test

import (
	_ "github.com/locksim/locksim/internal/testkit/simtest"
	_ "github.com/locksim/locksim/servers/redis"
)
