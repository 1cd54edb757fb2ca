// Package locks lists the locks and systems of the playground. The engine in the browser, the
// program that builds the page and the tests import it, so that they know the same locks.
package locks

import (
	_ "github.com/locksim/locksim/libraries/redislock"
	_ "github.com/locksim/locksim/libraries/redsync"
)
