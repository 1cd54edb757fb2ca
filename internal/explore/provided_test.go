package explore

import (
	_ "github.com/locksim/locksim/internal/testkit/simtest"
)
