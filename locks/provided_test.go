package locks_test

import (
	_ "github.com/locksim/locksim/internal/testkit/floor"
	_ "github.com/locksim/locksim/servers/redis"
)
