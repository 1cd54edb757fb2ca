package reports_test

import (
	_ "github.com/locksim/locksim/sim/simtest"
)
