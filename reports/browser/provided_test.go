package browser_test

import (
	_ "github.com/locksim/locksim/libraries" // so that the whole catalogue is there
	_ "github.com/locksim/locksim/sim/simtest"
)
