// Package libraries provides all locks of libraries that package locks knows. A program
// imports it, or only the packages below it that it needs, for the effect of the import:
//
//	import _ "github.com/locksim/locksim/libraries"
package libraries

import (
	_ "github.com/locksim/locksim/libraries/redislock"
	_ "github.com/locksim/locksim/libraries/redsync"
	_ "github.com/locksim/locksim/libraries/rueidislock"
)
