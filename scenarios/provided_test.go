package scenarios

import (
	_ "github.com/locksim/locksim/sim/simtest"
)
