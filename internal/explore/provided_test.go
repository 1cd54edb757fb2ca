package explore

import (
	_ "github.com/locksim/locksim/sim/simtest"
)
