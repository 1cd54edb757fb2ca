// Package libraries provides all locks of package locks that come from lock libraries. A
// program imports it, or only some of the packages below it. Importing a package makes its
// locks available:
//
//	import _ "github.com/locksim/locksim/libraries"
package libraries

import (
	_ "github.com/locksim/locksim/libraries/redislock"
	_ "github.com/locksim/locksim/libraries/redsync"
	_ "github.com/locksim/locksim/libraries/rueidislock"
)
