package locktest_test

import (
	_ "github.com/locksim/locksim/sim/simtest"
)
