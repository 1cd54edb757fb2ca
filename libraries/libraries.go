// Package libraries provides all locks of libraries that package locks knows. A
// program imports it for its effect, or those of the packages below that it needs:
//
//	import _ "github.com/locksim/locksim/libraries"
package libraries

import (
	_ "github.com/locksim/locksim/libraries/redislock"
	_ "github.com/locksim/locksim/libraries/redsync"
	_ "github.com/locksim/locksim/libraries/rueidislock"
)
