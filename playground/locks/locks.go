// Package locks imports the locks of the playground's small engine. The engine, the program that
// builds the page and the tests import this package, so that they know the same locks.
package locks

import (
	_ "github.com/locksim/locksim/libraries/redislock"
	_ "github.com/locksim/locksim/libraries/redsync"
)
